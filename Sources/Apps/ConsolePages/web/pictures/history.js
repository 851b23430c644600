// The last two minutes of samples and hash table operations. The node sends the past only once, at the page's start.

import { signal } from "../lib/dom.js";
import { onActivity, onResume } from "../lib/activity.js";

/// Seconds that the plots show.
export const span = 120;
const operationLimit = 200;

/// The samples, the newest last.
export const samples = signal([]);
/// The operations, the newest first.
export const operations = signal([]);

export function startHistory() {
  onActivity(["sample"], sample => samples.update(all => {
    const last = all.at(-1);
    return last && last.seq >= sample.seq && last.at >= sample.at ? all : [...all, sample].slice(-span);
  }));
  onActivity(["dht"], line => operations.update(all => {
    const rest = all.filter(one => one.number !== line.number);
    const begun = all.find(one => one.number === line.number);
    return [{ ...begun, ...line, at: begun?.at ?? line.at }, ...rest].slice(0, operationLimit);
  }));
  // A restarted node counts anew and ends no earlier operation.
  onResume(isFirst => {
    if (isFirst) return;
    operations.update(all => all.filter(one => one.phase === "ended")
      .map((one, index) => ({ ...one, number: `old-${index}-${one.number}` })));
  });
}

/// A line of 120 seconds that ends with the newest sample; seconds without one are null.
export function seconds(all, value) {
  const line = new Array(span).fill(null);
  let second = span - 1;
  for (let index = all.length - 1; index >= 0 && second >= 0; index--) {
    line[second] = value(all[index]) ?? null;
    // A late sample is no gap.
    const step = index && (all[index].at - all[index - 1].at) / 1000;
    second -= step < 2.5 ? 1 : Math.round(step);
  }
  return line;
}
