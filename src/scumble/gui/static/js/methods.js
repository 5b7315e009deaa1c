// Methods in the notation of the command line: "rare(quality=best),br", with "+" between the steps of a chain.

/** Split a text at separators that are not in brackets. */
const splitOutsideBrackets = (text, separator) => text.split(new RegExp(`\\${separator}(?![^()]*\\))`)).filter(Boolean);

/** Parse methods; each is a list of steps. */
export function parseMethods(text) {
  return splitOutsideBrackets(text, ",").map((part) => splitOutsideBrackets(part, "+").map((step) => {
    const [, name, parameterText] = step.match(/^([^(]*)(?:\((.*)\))?$/) ?? [null, step, ""];
    const pairs = (parameterText ?? "").split(",").filter(Boolean).map((pair) => pair.split(/=(.*)/s));
    return { name: name.trim(), parameters: Object.fromEntries(pairs) };
  }));
}

/** Format the steps of a method; parameters that are null keep their default. */
export function formatMethod(steps) {
  return steps.map(({ name, parameters }) => {
    const texts = Object.entries(parameters ?? {}).filter(([, value]) => value !== null).map(([key, value]) => `${key}=${value}`);
    return texts.length ? `${name}(${texts.join(",")})` : name;
  }).join("+");
}

const BOOLEANS = new Map([["true", true], ["True", true], ["false", false], ["False", false]]);
/** Parse a number or a boolean; other texts stay texts. */
function parseValue(text) {
  if (BOOLEANS.has(text)) return BOOLEANS.get(text);
  const isNumber = typeof text === "string" && text.trim() !== "" && !Number.isNaN(Number(text));
  return isNumber ? Number(text) : text;
}

/** Parse the parameters of an address as the API takes them. */
export const parseValues = (parameters) => Object.fromEntries(Object.entries(parameters).map(([key, text]) => [key, parseValue(text)]));

/** Convert steps from the form of the API. */
export const fromApi = (steps) => steps.map(({ method, parameters }) => ({ name: method, parameters }));
/** Convert steps to the form of the API. */
export const toApi = (steps) => steps.map(({ name, parameters }) => ({ method: name, parameters }));
