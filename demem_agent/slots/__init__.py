"""The K slots: their state and its rows, where new items go, which slot a query goes to, what past
decisions tell.
"""
