/// The handles that new accounts cannot have, because people would take their owner for the operator.
package enum ReservedHandles {
    /// Names of operators, and of people who act for them.
    private static let operators = [
        "abuse", "admin", "administrator", "billing", "compliance", "contact", "founder", "help", "helpdesk", "info",
        "legal", "moderation", "moderator", "mods", "official", "operator", "owner", "payments", "postmaster", "press",
        "privacy", "root", "sales", "security", "staff", "superuser", "support", "sysadmin", "system", "team", "trust",
        "verified", "webmaster", "hostmaster",
    ]

    /// Names of hosts in the operator's domain, which a handle is, too.
    private static let hosts = [
        "api", "app", "apps", "assets", "atproto", "auth", "autoconfig", "autodiscover", "backup", "blog", "cdn",
        "console", "dashboard", "dev", "dns", "docs", "download", "ftp", "gateway", "git", "identity", "imap", "kas",
        "ldap", "localhost", "mail", "metrics", "mta-sts", "mx1", "mx2", "ns1", "ns2", "ntp", "pds", "plc", "pop3",
        "proxy", "push", "registry", "relay", "sip", "smtp", "ssh", "sso", "staging", "static", "status", "stun",
        "test", "turn", "vpn", "web", "webmail", "wpad", "www", "xrpc",
    ]

    /// Names in addresses of pages and forms, and words that programs read as values.
    private static let pages = [
        "about", "account", "accounts", "authenticate", "delete", "everyone", "handle", "handles", "login", "logout",
        "null", "oauth", "passkey", "passkeys", "password", "profile", "recover", "recovery", "register",
        "registration", "settings", "signin", "signout", "signup", "terms", "token", "undefined", "user", "username",
        "users", "well-known",
    ]

    /// Names of this software and of the people who publish it.
    private static let products = ["arkavo", "runar"]

    private static let all = Set(operators + hosts + pages + products)

    /// Whether a text is such a handle.
    package static func contains(_ text: String) -> Bool { all.contains(text) }

    /// All handles, in alphabetical order.
    package static var sorted: [String] { all.sorted() }
}
