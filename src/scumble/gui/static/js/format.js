// Formats numbers for readers. The API has all digits.

const integerFormat = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** Format a whole number. */
export function int(value) {
  return value === null || value === undefined ? "–" : integerFormat.format(value);
}

/** Format a number with a fixed number of decimals. */
export function fixed(value, digits) {
  if (value === null || value === undefined) return "–";
  return new Intl.NumberFormat("en", { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(value);
}

/** Format a number with significant digits; very large and very small ones as powers of ten. */
export function significant(value, digits = 4) {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e9 || size < 1e-6) return value.toExponential(digits - 1);
  return new Intl.NumberFormat("en", { maximumSignificantDigits: digits }).format(value);
}

/** Format a fraction as a percentage. */
export function percent(value, digits = 1) {
  return value === null || value === undefined ? "–" : `${fixed(100 * value, digits)} %`;
}

/** Format a file size. */
export function bytes(value) {
  const units = ["B", "kB", "MB", "GB"];
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) { value /= 1024; unit += 1; }
  return `${significant(value, 3)} ${units[unit]}`;
}

/** Format seconds as a duration, such as "2 min 5 s". */
export function duration(value) {
  const rounded = Math.round(value);
  if (rounded < 60) return `${rounded} s`;
  if (rounded < 3600) return `${Math.floor(rounded / 60)} min ${rounded % 60} s`;
  return `${Math.floor(rounded / 3600)} h ${Math.floor((rounded % 3600) / 60)} min`;
}

/** Format a count with its noun, such as "3 labels". */
export function pluralize(value, noun) {
  return `${int(value)} ${noun}${value === 1 ? "" : "s"}`;
}

/** Parse label columns as the readers take them: "-3" is a count, "4,5" are positions, "a,b" are names. */
export function parseLabels(text) {
  const trimmed = text.trim();
  if (!trimmed) return null;
  const parts = trimmed.split(",").map((part) => part.trim()).filter(Boolean);
  if (!parts.every((part) => /^[+-]?\d+$/.test(part))) return parts;  // 0x1 and 1e3 are names
  const numbers = parts.map(Number);
  return trimmed.includes(",") ? numbers : numbers[0];
}

/** Shorten a text to so many characters. */
export const shorten = (text, maxLength) => (text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text);
