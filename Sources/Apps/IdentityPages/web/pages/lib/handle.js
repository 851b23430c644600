// The rules of handles, those of the server: a text that breaks one is refused and never repaired.

import { t } from "../texts.js";

const shortest = 3, longest = 18;

/// Returns the rule that a text breaks, in words, or an empty text. A text that is being typed may still become longer.
export function brokenRule(text, isTyping = false) {
  const rules = t.handle;
  const wrong = text.match(/[^a-z0-9-]/u)?.[0];
  if (wrong === ".") return rules.dot;
  if (wrong && /\s/u.test(wrong)) return rules.space;
  if (wrong && /[A-Z]/.test(wrong)) return rules.capital(wrong);
  if (wrong) return rules.sign(wrong);
  if (text.startsWith("-")) return rules.hyphen;
  if (text.startsWith("xn--")) return rules.international;
  if (text.length > longest) return rules.long(longest);
  if (isTyping) return "";
  if (text.length < shortest) return rules.short(shortest);
  return text.endsWith("-") ? rules.hyphen : "";
}
