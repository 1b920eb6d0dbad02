// What every part of the page is built with.
import { h, render, Fragment } from "./vendor/preact.js";
import { useState, useEffect, useRef, useMemo, useCallback } from "./vendor/hooks.js";
import htm from "./vendor/htm.js";

const html = htm.bind(h);

export { html, render, Fragment, useState, useEffect, useRef, useMemo, useCallback };
