// Reads the text that collectors read: https://prometheus.io/docs/instrumenting/exposition_formats/

const line = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)/;
const label = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;
const escapes = { n: "\n", "\\": "\\", '"': '"' };

/// Families in their order: `{name, help, kind, series}`. A series is `{labels, value}`, or of a histogram
/// `{labels, count, sum, buckets: [[upper bound, count so far], …]}`.
export function parseMetrics(text) {
  const families = new Map();
  const family = name => {
    if (!families.has(name)) families.set(name, { name, help: null, kind: "untyped", series: [] });
    return families.get(name);
  };
  for (const one of text.split("\n")) {
    const [, what, name, rest] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(one) ?? [];
    if (what === "HELP") family(name).help = rest;
    if (what === "TYPE") family(name).kind = rest.trim();
    const [, sample, labels = "", value] = one.startsWith("#") ? [] : line.exec(one) ?? [];
    if (sample) take(families, family, sample, labelsOf(labels), Number(value.replace("Inf", "Infinity")));
  }
  return [...families.values()];
}

const labelsOf = text => Object.fromEntries([...text.matchAll(label)].map(([, name, value]) =>
  [name, value.replace(/\\(.)/g, (_, one) => escapes[one] ?? one)]));

function take(families, family, sample, labels, value) {
  const [, base, suffix] = /^(.*)_(bucket|sum|count)$/.exec(sample) ?? [];
  const histogram = base && families.get(base);
  if (histogram?.kind !== "histogram") return void family(sample).series.push({ labels, value });
  const { le, ...rest } = labels;
  const id = JSON.stringify(rest);
  let one = histogram.series.find(other => other.id === id);
  if (!one) histogram.series.push(one = { id, labels: rest, count: 0, sum: 0, buckets: [] });
  if (suffix === "bucket") one.buckets.push([Number(le.replace("Inf", "Infinity")), value]);
  else one[suffix] = value;
}

/// The bound below which this share of the values lies; null without values.
export function quantile(one, share) {
  if (!one.count) return null;
  return one.buckets.find(([, count]) => count >= share * one.count)?.[0] ?? Infinity;
}
