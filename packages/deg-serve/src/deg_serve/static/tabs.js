// Tabs: one panel of three is shown; arrow keys go from tab to tab.

const tabs = [...document.querySelectorAll("[role=tab]")];

/** Show the panel of a tab, by the name after `tab-`. */
export function showTab(name) {
  for (const tab of tabs) {
    const isShown = tab.id === `tab-${name}`;
    tab.setAttribute("aria-selected", String(isShown));
    tab.tabIndex = isShown ? 0 : -1;
    document.getElementById(tab.getAttribute("aria-controls")).hidden = !isShown;
  }
}

/** Return the name of the tab that is shown. */
export function shownTab() {
  return tabs.find((tab) => tab.tabIndex === 0).id.slice("tab-".length);
}

/** Listen to the tabs; `onShow` is called with the name of each that is chosen. */
export function listenToTabs(onShow) {
  const choose = (tab) => {
    showTab(tab.id.slice("tab-".length));
    tab.focus();
    onShow(shownTab());
  };
  tabs.forEach((tab, index) => {
    tab.addEventListener("click", () => choose(tab));
    tab.addEventListener("keydown", (event) => {
      const to = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: -1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      choose(tabs.at(to % tabs.length));
    });
  });
}
