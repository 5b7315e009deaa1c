// Methods as the command line takes them: "rare(quality=best),br", steps of a chain with "+" between.

const outside = (text, sign) => text.split(new RegExp(`\\${sign}(?![^()]*\\))`)).filter(Boolean);

/** Read methods; each is the list of its steps. */
export function parseMethods(text) {
  return outside(text, ",").map((part) => outside(part, "+").map((step) => {
    const [, name, inside] = step.match(/^([^(]*)(?:\((.*)\))?$/) ?? [null, step, ""];
    const given = (inside ?? "").split(",").filter(Boolean).map((pair) => pair.split(/=(.*)/s));
    return { name: name.trim(), parameters: Object.fromEntries(given) };
  }));
}

/** Write the steps of a method; a parameter that is null is as it comes. */
export function writeMethod(steps) {
  return steps.map(({ name, parameters }) => {
    const given = Object.entries(parameters ?? {}).filter(([, value]) => value !== null).map(([key, value]) => `${key}=${value}`);
    return given.length ? `${name}(${given.join(",")})` : name;
  }).join("+");
}

const WORDS = new Map([["true", true], ["True", true], ["false", false], ["False", false]]);
const plain = (text) => WORDS.get(text) ?? (typeof text !== "string" || text.trim() === "" || Number.isNaN(Number(text)) ? text : Number(text));

/** Values from an address, as the API takes them. */
export const plainValues = (parameters) => Object.fromEntries(Object.entries(parameters).map(([key, text]) => [key, plain(text)]));

/** Steps as the API has them, and back. */
export const fromApi = (steps) => steps.map(({ method, parameters }) => ({ name: method, parameters }));
export const toApi = (steps) => steps.map(({ name, parameters }) => ({ method: name, parameters }));
