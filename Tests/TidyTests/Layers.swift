/// The layer rule: a target may import only targets in a row above its own.
///
/// This table is its only source; `Package.swift` and every import are checked against it.
enum Layers {
    static let rows: [[String]] = [
        // Base: bytes, keys, formats.
        ["Libc", "Essentials", "Failures"],
        ["Bytes", "Concurrency", "CTurboJPEG", "CZlib"],
        ["Identity", "NanoTDF", "QRCode", "CryptoPrimitives"],
        ["Certificates", "OneTimeKeys", "ImageFiles", "BlindTokens", "ExitModel"],
        ["CircleModel", "WebAuthn"],
        ["RegistrationModel"],
        // Protocols: values. They never see each other; NodeCore composes them.
        ["Discovery", "Kademlia", "Mailbox", "PubSub", "Services", "Traversal", "WireGuard"],
        ["NodeCore"],
        // Transport: streams between two authenticated peers.
        ["Transport"],
        ["CNGTCP2", "CUDPShim"],
        ["CQUICShim"],
        ["QUIC"],
        // Platform and storage: access to the system and the disk.
        ["Platform", "CPageEraser"],
        ["Database"],
        ["NodeStore", "IdentityStore", "IssuerStore", "GatewayStore"],
        ["CircleStore"],
        // Node: the driver and the library.
        ["Node", "Simulation", "MetricsText"],
        ["RunarNode"],
        ["SealedMessages"],
        ["Circle"],
        ["Registration"],
        // Apps.
        ["CGnuTLS", "WebPages"],
        ["ConsolePages", "IdentityPages", "CTLSShim", "CTunnelShim", "CRunar", "CNotices"],
        ["CommandModel"],
        ["CommandKit", "TLSChannel", "NodeModel", "Tunnel"],
        ["HTTPAPI", "WebClient"],
        ["Console", "APIDescription", "IdentityClient"],
        ["IdentityServer", "NodeService", "TokenIssuer", "Gateway", "ExitClient"],
        ["runar", "RunarC"],
    ]

    /// Modules that only the named targets may import, because they hide them.
    static let reserved: [String: Set<String>] = [
        "CNGTCP2": ["CQUICShim"],
        "CQUICShim": ["QUIC"],
        "CUDPShim": ["CQUICShim", "Tunnel"],
        "CTunnelShim": ["Tunnel"],
        "CTurboJPEG": ["ImageFiles"],
        "CZlib": ["QRCode", "ImageFiles"],
        "CPageEraser": ["Database"],
        "CGnuTLS": ["CTLSShim"],
        "CTLSShim": ["TLSChannel"],
        "FoundationEssentials": ["Essentials"],
        "GRDB": ["Database", "NodeStore", "CircleStore", "IdentityStore", "IssuerStore", "GatewayStore"],
        "X509": ["Certificates"],
        "SwiftASN1": ["Certificates"],
        "ArgumentParser": ["CommandKit", "runar"],
        "Hummingbird": ["HTTPAPI"],
        "HummingbirdCore": ["HTTPAPI"],
        "NIOCore": ["TLSChannel", "HTTPAPI", "WebClient", "NodeService"],
        "NIOHTTP1": ["WebClient", "NodeService"],
        "NIOPosix": ["HTTPAPI", "WebClient", "NodeService"],
        "NIOTLS": ["TLSChannel", "HTTPAPI", "WebClient"],
        "HTTPTypes": ["HTTPAPI"],
        "QUIC": ["RunarNode", "runar", "runar-bench"],
        "NodeCore": ["Node", "Simulation", "RunarNode", "runar"],
    ]

    /// A group of modules, and the modules that none of them may see, either directly or through others.
    struct Separation {
        let modules: Set<String>
        let unseen: Set<String>
    }

    /// The modules that must not see each other, in addition to the order of the rows.
    ///
    /// A row takes effect as soon as the manifest has a target of its names.
    static let forbidden: [Separation] = [
        // The exit carries the traffic of people whose identity it must not learn: a program that links neither the
        // accounts nor the circle cannot connect a blind token to a person.
        Separation(modules: exit, unseen: people),
        // A server that knows people must not be able to recognise their tokens or their traffic at the exit.
        Separation(modules: people, unseen: exit),
        // The exit has no part of a node: it must work for people without one.
        Separation(modules: exit, unseen: node),
        // Issuer and gateway have nothing in common that could connect a request with a redemption.
        Separation(modules: ["TokenIssuer", "IssuerStore"], unseen: ["Gateway", "GatewayStore"]),
        Separation(modules: ["Gateway", "GatewayStore"], unseen: ["TokenIssuer", "IssuerStore"]),
        // Every program with commands links these, the exit and the servers too.
        Separation(modules: ["CommandModel", "CommandKit"], unseen: people.union(exit).union(http).union(node)),
        // The use cases and the model of the apps also run on iOS, which must not link an HTTP server.
        Separation(modules: ["NodeModel", "AppCore", "Registration"], unseen: http),
        // The identity server has no part of a node, so it cannot read what nodes exchange.
        Separation(modules: ["APIDescription", "IdentityStore", "IdentityServer"], unseen: node),
    ]

    private static let exit: Set = [
        "BlindTokens", "ExitModel", "WireGuard", "IssuerStore", "GatewayStore", "Tunnel", "TokenIssuer", "Gateway",
        "ExitClient",
    ]
    private static let people: Set = [
        "RegistrationModel", "Registration", "IdentityClient", "IdentityStore", "IdentityServer", "CircleModel",
        "CircleStore", "Circle",
    ]
    private static let node: Set = ["NodeCore", "Node", "NodeStore", "RunarNode", "NodeModel", "NodeService"]
    private static let http: Set = [
        "HTTPAPI", "WebClient", "TLSChannel", "APIDescription", "IdentityClient", "Console", "ConsolePages",
        "IdentityPages", "WebPages", "CTLSShim", "CGnuTLS", "Hummingbird",
        "HummingbirdCore", "HTTPTypes", "NIOCore", "NIOHTTP1", "NIOPosix", "NIOTLS",
    ]

    /// Modules of the toolchain or the system, which no manifest names.
    static let system: Set<String> = [
        "Foundation", "FoundationEssentials", "Glibc", "Darwin", "Musl", "Dispatch", "Security", "LocalAuthentication",
        "Network",
        "UIKit", "AppKit",
        "os", "Testing", "XCTest", "Swift", "AVFoundation", "CoreFoundation", "CoreGraphics", "CoreVideo", "ImageIO",
        "SystemConfiguration",
        "AuthenticationServices",
    ]

    /// Targets that are no part of the layers: they may import every library and no layer imports them.
    static let outside: Set<String> = [
        "runar-bench", "two-nodes", "simulated-network", "chat", "clipboard", "sensor", "hello-c",
    ]

    /// Returns the row of a target, from 0 for the base, or nil if the table does not have it.
    static func row(of target: String) -> Int? {
        rows.firstIndex { $0.contains(target) }
    }
}
