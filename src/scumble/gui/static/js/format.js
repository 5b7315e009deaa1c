// Numbers for people. The API has them in full.

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

export function int(value) {
  return value === null || value === undefined ? "–" : whole.format(value);
}

export function fixed(value, digits) {
  if (value === null || value === undefined) return "–";
  return new Intl.NumberFormat("en", { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(value);
}

/** So many significant digits, never in powers of ten unless it must be. */
export function sig(value, digits = 4) {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e9 || size < 1e-6) return value.toExponential(digits - 1);
  return new Intl.NumberFormat("en", { maximumSignificantDigits: digits }).format(value);
}

export function percent(value, digits = 1) {
  return value === null || value === undefined ? "–" : `${fixed(100 * value, digits)} %`;
}

export function bytes(value) {
  const units = ["B", "kB", "MB", "GB"];
  let at = 0;
  while (value >= 1000 && at < units.length - 1) { value /= 1024; at += 1; }
  return `${sig(value, 3)} ${units[at]}`;
}

/** Seconds as people say them. */
export function seconds(value) {
  const whole = Math.round(value);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

export function counted(value, noun) {
  return `${int(value)} ${noun}${value === 1 ? "" : "s"}`;
}

/** Numbers in a text, as the readers take them: "-3" counts, "4,5" are columns, "a,b" are names. */
export function parseLabels(text) {
  const trimmed = text.trim();
  if (!trimmed) return null;
  const parts = trimmed.split(",").map((part) => part.trim()).filter(Boolean);
  if (!parts.every((part) => /^[+-]?\d+$/.test(part))) return parts;  // 0x1 and 1e3 are names
  const numbers = parts.map(Number);
  return trimmed.includes(",") ? numbers : numbers[0];
}
