"""What goes over the wire between a server of memories and its clients: the records as JSON, what
is asked in which shape, and errors as problem documents.

The records of ``demem_agent.types`` are sent as they are, so that there is one definition of what
comes back: the server encodes them, the OpenAPI document describes them, and a client decodes
them to the same records.
"""

from __future__ import annotations
