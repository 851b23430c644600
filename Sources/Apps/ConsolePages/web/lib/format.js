// How numbers, times and ids are shown.

import { t } from "../texts.js";

const dateTime = new Intl.DateTimeFormat(t.language, { dateStyle: "medium", timeStyle: "short" });
const dateOnly = new Intl.DateTimeFormat(t.language, { dateStyle: "medium" });
const clockOnly = new Intl.DateTimeFormat(t.language, { timeStyle: "short" });
const timeOnly = new Intl.DateTimeFormat(t.language, { timeStyle: "medium" });
const relative = new Intl.RelativeTimeFormat(t.language, { numeric: "auto" });
const whole = new Intl.NumberFormat(t.language);

export const number = value => whole.format(value);
/// From seconds since 1970, as all reports of the node count.
export const date = seconds => dateTime.format(seconds * 1000);
export const day = seconds => dateOnly.format(seconds * 1000);
/// From milliseconds since 1970, as the activity counts.
export const time = milliseconds => timeOnly.format(milliseconds);
export const clock = milliseconds => clockOnly.format(milliseconds);

const units = [["year", 31_557_600], ["month", 2_629_800], ["week", 604_800], ["day", 86_400], ["hour", 3600],
  ["minute", 60]];

/// "5 minutes ago", "in 3 days"; from seconds since 1970.
export function ago(seconds, now = Date.now() / 1000) {
  const difference = seconds - now;
  for (const [unit, size] of units) {
    if (Math.abs(difference) >= size) return relative.format(Math.trunc(difference / size), unit);
  }
  return difference > 0 ? t.format.soon : t.format.justNow;
}

/// "3 days", "20 seconds": how long something takes or lasts.
export function duration(seconds) {
  const [unit, size] = units.find(([, one]) => seconds >= one) ?? ["second", 1];
  const count = Math.floor(seconds / size);
  return new Intl.NumberFormat(t.language, { style: "unit", unit, unitDisplay: "long" }).format(count);
}

export function bytes(count) {
  if (count < 1000) return t.format.bytes(count);
  const names = ["kB", "MB", "GB", "TB"];
  let value = count, index = -1;
  while (value >= 999.5 && index < names.length - 1) { value /= 1000; index++; }
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)} ${names[index]}`;
}

/// A round-trip time.
export function milliseconds(micro) {
  const milli = micro / 1000;
  return `${milli < 9.95 ? milli.toFixed(1) : Math.round(milli)} ms`;
}

/// The first letters of an id are enough to tell devices apart at a glance; its whole is on the detail page.
export const short = id => id.slice(0, 8);

const alphabet = "abcdefghijklmnopqrstuvwxyz234567";

/// Shortens an id in base64 to the eight letters that `short` gives: base32 of its first five bytes.
export function shortOf(base64) {
  let bytes;
  try { bytes = atob(base64.slice(0, 8)); } catch { return short(base64); }
  let bits = 0;
  for (let at = 0; at < 5; at++) bits = bits * 256 + (bytes.charCodeAt(at) || 0);
  return Array.from({ length: 8 }, (_, at) => alphabet[Math.floor(bits / 2 ** (35 - 5 * at)) % 32]).join("");
}

// Characters without a look of their own, and those that turn the direction of what follows.
const unseen = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/// Shortens a name that another person chose and replaces invisible and bidirectional control characters.
export function clean(text, limit = 100) {
  const shown = text.slice(0, limit).replace(unseen, "\ufffd");
  return text.length > limit ? `${shown}…` : shown;
}

/// Cleans a name and isolates its text direction, for use within a sentence.
export const within = text => `\u2068${clean(text)}\u2069`;

/// Ids stand in paths as base64url, without padding.
export const base64url = id => id.replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
