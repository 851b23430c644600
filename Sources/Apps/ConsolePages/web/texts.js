// All words of the console, for translation. One section per view; whoever writes a view adds its section. What counts
// or names is a function. Words are plain: what a person does and sees, no protocol terms without an explanation.

const plural = new Intl.PluralRules("en");
const many = (count, one, other) => `${new Intl.NumberFormat("en").format(count)} ${
  plural.select(count) === "one" ? one : other}`;

export const t = {
  language: "en",

  app: {
    name: "Runar",
    skip: "Skip to the content",
    mainNavigation: "Main",
    networks: "Networks", peers: "Peers", data: "Data", settings: "Settings",
    toNetworks: "Go to your networks",
    back: "Back", close: "Close", cancel: "Cancel", dismiss: "Dismiss", done: "Done",
    copy: "Copy", copied: "Copied", save: "Save", tryAgain: "Try again", loading: "Loading…",
    typeWord: word => `Type “${word}” to confirm`,
    live: "The node is running", connecting: "Connecting…",
    lost: "The node does not answer. Trying again…",
    lostLong: "The node on this device does not answer. What you see may be old. If it was stopped, start it with “runar up”.",
    restarted: "The node was restarted. Everything here is up to date again.",
    thisDevice: "This device",
  },

  signIn: {
    title: "Open the console",
    lead: "This page belongs to the Runar node on this device, and it opens only for you.",
    how: "In a terminal on this device, run:",
    command: "runar console",
    then: "It opens this page in your browser, signed in. The address works once and for one minute only.",
    expired: "If you came here by such an address: it was used already, or it is too old. Run the command again.",
    unreachable: "The node does not answer. Is it running? Start it with “runar up”.",
  },

  errors: {
    unreachable: "The node does not answer. It may be stopped or restarting.",
    status: status => `The node answered with an error (${status}).`,
    lineTooLong: "The node sent more than this page can take.",
    noPageTitle: "No such page",
    noPage: "There is nothing at this address.",
    brokenTitle: "This page could not be loaded",
    broken: "The node may be stopped. Reload the page when it runs.",
  },

  format: {
    soon: "in less than a minute", justNow: "just now",
    bytes: count => many(count, "byte", "bytes"),
  },

  networks: {
    title: "Networks",
    lead: "Private groups of your devices. Only members can see or reach each other.",
    create: "New network", join: "Join",
    emptyTitle: "No network yet",
    empty: [
      "A network connects your own devices, and those of people you trust, directly and encrypted.",
      "Start one here, or join one that another device has already made.",
    ],
    createFirst: "Create a network", joinFirst: "Join a network",
    list: "Your networks",
    unnamed: "Name not known yet",
    roles: { owner: "You own it", admin: "You manage it", member: "Member", none: "Not a member yet" },
    connected: count => (count ? `${many(count, "device", "devices")} connected` : "Nobody else is here"),
    until: when => `until ${when}`,
    ended: "Membership ended", ends: when => `Membership ends ${when}`, endedAgo: when => `Membership ended ${when}`,
    online: "Online", alone: "Alone", waiting: "Needs a token", revoked: "You were removed",
  },
};
