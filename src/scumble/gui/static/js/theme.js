// Before anything is painted: the theme chosen last time, if any.
"use strict";
{
  let theme = null;
  try { theme = localStorage.getItem("scumble-theme"); } catch { /* storage may be off */ }
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
}
