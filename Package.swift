// swift-tools-version: 6.2
import PackageDescription

let house: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
]

/// Whether another package depends on this one and SwiftPM has checked it out.
let isDependency = Context.packageDirectory.contains("/checkouts/")

/// The settings of targets that compute: optimised in debug builds too, for the sake of the tests.
///
/// Assertions stay. A package that depends on this one gets the compiler's defaults: optimisation is its own choice.
/// Specialisation across files needs whole modules; SwiftPM expects one object a file, hence `-num-threads`.
let computing: [SwiftSetting] =
    isDependency
    ? house
    : house + [
        .unsafeFlags(["-O", "-whole-module-optimization", "-num-threads", "1"], .when(configuration: .debug)),
        .unsafeFlags(["-Xfrontend", "-assert-config", "-Xfrontend", "Debug"], .when(configuration: .debug)),
    ]

let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let cryptoExtras = Target.Dependency.product(name: "CryptoExtras", package: "swift-crypto")
let x509 = Target.Dependency.product(name: "X509", package: "swift-certificates")
let asn1 = Target.Dependency.product(name: "SwiftASN1", package: "swift-asn1")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let algorithms = Target.Dependency.product(name: "Algorithms", package: "swift-algorithms")
let ordered = Target.Dependency.product(name: "OrderedCollections", package: "swift-collections")
let deque = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let heap = Target.Dependency.product(name: "HeapModule", package: "swift-collections")
let metrics = Target.Dependency.product(name: "CoreMetrics", package: "swift-metrics")
let tracing = Target.Dependency.product(name: "Tracing", package: "swift-distributed-tracing")
let inMemoryTracing = Target.Dependency.product(name: "InMemoryTracing", package: "swift-distributed-tracing")
let nio = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioEmbedded = Target.Dependency.product(name: "NIOEmbedded", package: "swift-nio")
let nioTLS = Target.Dependency.product(name: "NIOTLS", package: "swift-nio")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let hummingbirdCore = Target.Dependency.product(name: "HummingbirdCore", package: "hummingbird")
let arguments = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
/// Apple systems decode JPEG themselves.
let turboJPEG = Target.Dependency.target(name: "CTurboJPEG", condition: .when(platforms: [.linux]))

/// A target of a layer: its sources lie in `Sources/<layer>/<name>`.
func module(
    _ name: String,
    in layer: String,
    _ dependencies: [Target.Dependency],
    settings: [SwiftSetting] = house
) -> Target {
    .target(name: name, dependencies: dependencies, path: "Sources/\(layer)/\(name)", swiftSettings: settings)
}

/// The tests of a target, with whatever else they need.
func tests(
    of name: String,
    _ dependencies: [Target.Dependency],
    resources: [Resource] = [],
    settings: [SwiftSetting] = house
) -> Target {
    .testTarget(name: "\(name)Tests", dependencies: dependencies, resources: resources, swiftSettings: settings)
}

let package = Package(
    name: "runar",
    platforms: [.macOS(.v14), .iOS(.v17)],
    products: [
        .library(name: "RunarNode", targets: ["RunarNode"]),
        .library(name: "NanoTDF", targets: ["NanoTDF"]),
        .library(name: "SealedMessages", targets: ["SealedMessages"]),
        .library(name: "Circle", targets: ["Circle"]),
        .library(name: "BlindTokens", targets: ["BlindTokens"]),
        .library(name: "Simulation", targets: ["Simulation"]),
        .executable(name: "runar", targets: ["runar"]),
        // For programs in other languages; `make library` makes librunar of them.
        .library(name: "RunarC", type: .dynamic, targets: ["RunarC"]),
        .library(name: "RunarCStatic", type: .static, targets: ["RunarC"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-algorithms", from: "1.2.1"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        // For the console only: a package that depends on the library builds none of these.
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0", traits: []),
    ],
    targets: [
        // Base: bytes, keys, formats. No I/O, no clock.
        module("Libc", in: "Base", []),
        module("Essentials", in: "Base", []),
        module("Failures", in: "Base", []),
        module("Bytes", in: "Base", ["Failures", "Libc"], settings: computing),
        module("Concurrency", in: "Base", [deque]),
        .systemLibrary(
            name: "CZlib",
            path: "Sources/Base/CZlib",
            pkgConfig: "zlib",
            providers: [.apt(["zlib1g-dev"])]
        ),
        module("QRCode", in: "Base", ["Failures", "Bytes", "CZlib"], settings: computing),
        .systemLibrary(
            name: "CTurboJPEG",
            path: "Sources/Base/CTurboJPEG",
            pkgConfig: "libturbojpeg",
            providers: [.apt(["libturbojpeg0-dev"])]
        ),
        module("ImageFiles", in: "Base", ["Failures", "QRCode", "CZlib", turboJPEG], settings: computing),
        module("Identity", in: "Base", ["Essentials", "Failures", "Bytes", algorithms, crypto], settings: computing),
        module("NanoTDF", in: "Base", ["Essentials", "Failures", "Bytes", crypto, cryptoExtras], settings: computing),
        module(
            "OneTimeKeys",
            in: "Base",
            ["Essentials", "Failures", "Bytes", "Identity", "NanoTDF", algorithms, crypto],
            settings: computing
        ),
        module("CircleModel", in: "Base", ["Essentials", "Failures", "Bytes", "Identity", "OneTimeKeys", crypto]),
        module("Certificates", in: "Base", ["Essentials", "Failures", "Bytes", "Identity", crypto, x509, asn1]),
        module(
            "WebAuthn",
            in: "Base",
            ["Failures", "Bytes", "Identity", "Certificates", crypto, cryptoExtras],
            settings: computing
        ),
        module(
            "RegistrationModel",
            in: "Base",
            ["Failures", "Bytes", "Identity", "NanoTDF", "WebAuthn"],
            settings: computing
        ),
        // Algorithms that swift-crypto does not have, and the keys of tunnels.
        module("CryptoPrimitives", in: "Base", ["Essentials", "Failures", "Bytes", crypto], settings: computing),
        module(
            "BlindTokens",
            in: "Base",
            ["Essentials", "Failures", "Bytes", "Identity", crypto, cryptoExtras],
            settings: computing
        ),
        // The values that the parties of a private exit exchange.
        module("ExitModel", in: "Base", ["Essentials", "Failures", "Bytes", "Identity", crypto], settings: computing),

        // Protocols: values. Input, time and randomness in, effects out.
        module("Discovery", in: "Protocols", ["Bytes", "Identity", crypto, ordered], settings: computing),
        module(
            "Kademlia",
            in: "Protocols",
            ["Failures", "Bytes", "Identity", algorithms, heap, ordered],
            settings: computing
        ),
        module("Mailbox", in: "Protocols", ["Bytes", "Identity", crypto, deque, ordered], settings: computing),
        module("PubSub", in: "Protocols", ["Bytes", "Identity", crypto, deque, ordered], settings: computing),
        module("Services", in: "Protocols", ["Bytes", "Identity", ordered], settings: computing),
        module(
            "Traversal",
            in: "Protocols",
            ["Failures", "Bytes", "Identity", crypto, deque, ordered],
            settings: computing
        ),
        module(
            "WireGuard",
            in: "Protocols",
            ["Bytes", "Identity", "CryptoPrimitives", crypto, deque],
            settings: computing
        ),
        module(
            "NodeCore",
            in: "Protocols",
            [
                "Bytes", "Identity", "OneTimeKeys", "Discovery", "Kademlia", "Mailbox", "PubSub", "Services",
                "Traversal", algorithms, deque, heap, ordered,
            ],
            settings: computing
        ),

        // Transport: streams between two authenticated peers.
        module("Transport", in: "Transport", ["Failures", "Bytes", "Identity", "Concurrency", deque, heap, crypto]),
        .systemLibrary(
            name: "CNGTCP2",
            path: "Sources/Transport/CNGTCP2",
            pkgConfig: "libngtcp2_crypto_gnutls",
            providers: [.apt(["libngtcp2-crypto-gnutls-dev"]), .brew(["libngtcp2"])]
        ),
        // Datagrams in batches, for QUIC and for tunnels.
        .target(
            name: "CUDPShim",
            path: "Sources/Transport/CUDPShim",
            cSettings: [
                .define("_GNU_SOURCE"),
                // Apple's headers show the options of RFC 3542 (where an IPv6 datagram went) only to those who ask.
                .define("__APPLE_USE_RFC_3542", .when(platforms: [.macOS, .iOS])),
            ]
        ),
        .target(
            name: "CQUICShim",
            dependencies: ["CNGTCP2", "CUDPShim"],
            path: "Sources/Transport/CQUICShim",
            cSettings: [.define("_GNU_SOURCE")],
            linkerSettings: [
                .linkedLibrary("ngtcp2_crypto_gnutls"), .linkedLibrary("ngtcp2"), .linkedLibrary("gnutls"),
            ]
        ),
        module(
            "QUIC",
            in: "Transport",
            ["CQUICShim", "Transport", "Bytes", "Identity", "Certificates", "Concurrency", deque]
        ),

        // Platform: what differs from system to system.
        .target(
            name: "Platform",
            dependencies: [
                "Libc", "Essentials", "Failures", "Bytes", "Identity", "Concurrency", crypto, cryptoExtras,
            ],
            path: "Sources/Platform",
            swiftSettings: house
        ),

        // Storage: everything but keys, in SQLite.
        // Pages of databases without the remains of deleted rows.
        .target(
            name: "CPageEraser",
            path: "Sources/Storage/CPageEraser",
            linkerSettings: [.linkedLibrary("sqlite3")]
        ),
        module(
            "Database",
            in: "Storage",
            ["CPageEraser", "Essentials", "Failures", "Identity", "Concurrency", "Platform", grdb]
        ),
        module("NodeStore", in: "Storage", ["Database", "Bytes", "Identity", "Platform", grdb]),
        module(
            "CircleStore",
            in: "Storage",
            ["CircleModel", "NodeStore", "Database", "Essentials", "Bytes", "Identity", grdb]
        ),
        module(
            "IdentityStore",
            in: "Storage",
            [
                "RegistrationModel", "Database", "Essentials", "Failures", "Identity", "Concurrency", "Platform", grdb,
            ]
        ),
        // The issuer of tokens and the gateway that redeems them have no store in common.
        module(
            "IssuerStore",
            in: "Storage",
            ["Database", "Failures", "Identity", "Platform", grdb]
        ),
        module(
            "GatewayStore",
            in: "Storage",
            ["Database", "Failures", "Bytes", "Identity", "Concurrency", "Platform", grdb]
        ),

        // Node: the driver of NodeCore, and the library that applications use.
        module(
            "Node",
            in: "Node",
            [
                "Failures", "Bytes", "Identity", "OneTimeKeys", "Concurrency", "Kademlia", "Mailbox", "PubSub",
                "Services", "Traversal", "NodeCore", "Transport", "Discovery", "Platform", logging, metrics,
                tracing, ordered, crypto,
            ]
        ),
        module("MetricsText", in: "Node", ["Concurrency", metrics]),
        module(
            "RunarNode",
            in: "Node",
            [
                "Essentials", "Failures", "Bytes", "Identity", "Certificates", "Concurrency", "Discovery", "Kademlia",
                "Mailbox", "PubSub", "Traversal", "Services", "NodeCore", "Transport",
                "QUIC", "Platform", "Database", "NodeStore", "Node", "QRCode", logging, metrics, tracing, crypto,
            ]
        ),

        module(
            "SealedMessages",
            in: "Node",
            [
                "Essentials", "Failures", "RunarNode", "Node", "NanoTDF", "OneTimeKeys", "Bytes", "Identity",
                "Concurrency", "Platform", logging, crypto,
            ]
        ),

        module(
            "Circle",
            in: "Node",
            [
                "Essentials", "CircleModel", "RegistrationModel", "SealedMessages", "RunarNode", "Node", "Mailbox",
                "NanoTDF", "OneTimeKeys", "CircleStore", "Bytes", "Identity", "Concurrency", logging, crypto,
            ]
        ),
        // Registration at an identity server, without HTTP.
        module(
            "Registration",
            in: "Node",
            [
                "Essentials", "Failures", "RegistrationModel", "WebAuthn", "CircleModel", "Circle", "Bytes", "Identity",
                "Concurrency", "Platform",
            ]
        ),
        .target(
            name: "Simulation",
            dependencies: [
                "Failures", "Bytes", "Identity", "OneTimeKeys", "Discovery", "Kademlia", "Mailbox", "PubSub",
                "NodeCore", "Transport", algorithms,
            ],
            path: "Sources/Node/Simulation",
            resources: [.embedInCode("Scenarios")],
            swiftSettings: computing
        ),

        // Apps.
        // The type of files that are embedded in C, and their compression.
        .target(name: "WebPages", path: "Sources/Apps/WebPages", linkerSettings: [.linkedLibrary("z")]),
        // The files of web/, embedded in C; scripts/console-pages.sh lists them.
        .target(name: "ConsolePages", dependencies: ["WebPages"], path: "Sources/Apps/ConsolePages", exclude: ["web"]),
        .target(
            name: "IdentityPages",
            dependencies: ["WebPages"],
            path: "Sources/Apps/IdentityPages",
            exclude: ["web"]
        ),
        // TLS for the console on the local network, with the library that the QUIC transport uses. swift-nio-ssl would
        // bring a second copy of BoringSSL: 406 C files.
        .systemLibrary(
            name: "CGnuTLS",
            path: "Sources/Apps/CGnuTLS",
            pkgConfig: "gnutls",
            providers: [.apt(["libgnutls28-dev"]), .brew(["gnutls"])]
        ),
        .target(
            name: "CTLSShim",
            dependencies: ["CGnuTLS"],
            path: "Sources/Apps/CTLSShim",
            linkerSettings: [.linkedLibrary("gnutls")]
        ),
        // TLS in a channel of SwiftNIO, for both roles.
        module(
            "TLSChannel",
            in: "Apps",
            ["CTLSShim", "Failures", "Bytes", "Certificates", "Identity", nio, nioTLS]
        ),
        // An HTTP server for any program: routes, streams, TLS and bounds.
        module(
            "HTTPAPI",
            in: "Apps",
            [
                "TLSChannel", "WebPages", "Libc", "Failures", "Bytes", "Certificates", "Identity", "Concurrency",
                "Platform", hummingbird, hummingbirdCore, nio, nioPosix, nioTLS, httpTypes, logging, crypto,
            ]
        ),
        // An HTTP client for any program, with names, certificate chains and pins verified.
        module(
            "WebClient",
            in: "Apps",
            [
                "TLSChannel", "Failures", "Identity", "Concurrency", "Platform", nio, nioPosix, nioHTTP1, nioTLS,
            ]
        ),
        // Endpoints as constants, and their description in OpenAPI.
        module(
            "APIDescription",
            in: "Apps",
            ["HTTPAPI", "CommandModel", "Identity", "Concurrency", "Platform"]
        ),
        // The identity server: accounts with passkeys, their tokens and handles.
        module(
            "IdentityServer",
            in: "Apps",
            [
                "APIDescription", "HTTPAPI", "IdentityPages", "CommandModel", "IdentityStore", "RegistrationModel",
                "WebAuthn", "NanoTDF", "MetricsText", "WebClient", "TLSChannel", "Certificates", "Failures", "Bytes",
                "Identity", "Concurrency", "Platform", "Database", deque, metrics, logging, crypto,
            ]
        ),
        module(
            "IdentityClient",
            in: "Apps",
            [
                "Registration", "WebClient", "TLSChannel", "RegistrationModel", "WebAuthn", "Essentials", "Bytes",
                "Identity",
            ]
        ),
        // The private exit: a tunnel, its gateway, the issuer of tokens that pay for it, and its client.
        .target(
            name: "CTunnelShim",
            path: "Sources/Apps/CTunnelShim",
            cSettings: [.define("_GNU_SOURCE")]
        ),
        module(
            "Tunnel",
            in: "Apps",
            [
                "CTunnelShim", "CUDPShim", "WireGuard", "CryptoPrimitives", "Libc", "Failures", "Bytes", "Identity",
                "Concurrency", "Platform",
            ],
            settings: computing
        ),
        module(
            "TokenIssuer",
            in: "Apps",
            [
                "APIDescription", "HTTPAPI", "CommandModel", "IssuerStore", "ExitModel", "BlindTokens", "MetricsText",
                "Certificates", "Failures", "Bytes", "Identity", "Concurrency", "Platform", metrics, logging, crypto,
            ]
        ),
        module(
            "Gateway",
            in: "Apps",
            [
                "APIDescription", "HTTPAPI", "WebClient", "TLSChannel", "CommandModel", "GatewayStore", "Tunnel",
                "WireGuard", "ExitModel", "BlindTokens", "CryptoPrimitives", "MetricsText", "Certificates",
                "Essentials", "Failures", "Bytes", "Identity", "Concurrency", "Platform", metrics, logging, crypto,
            ]
        ),
        module(
            "ExitClient",
            in: "Apps",
            [
                "APIDescription", "HTTPAPI", "WebClient", "TLSChannel", "CommandModel", "Tunnel", "WireGuard",
                "ExitModel", "BlindTokens", "CryptoPrimitives", "Essentials", "Failures", "Bytes", "Identity",
                "Concurrency", "Platform", logging, crypto,
            ]
        ),
        module(
            "Console",
            in: "Apps",
            [
                "HTTPAPI", "ConsolePages", "Bytes", "Certificates", "Identity", "Concurrency", "Platform", crypto,
                logging,
            ]
        ),
        // What every program with commands needs: values, then the terminal and processes.
        module("CommandModel", in: "Apps", ["Failures", "Bytes", "Identity", "Platform"]),
        module(
            "CommandKit",
            in: "Apps",
            ["CommandModel", "Libc", "Bytes", "Identity", "Concurrency", "QRCode", "Platform", arguments]
        ),
        // The use cases of a node's user, without a server: its home, its settings, requests and reports.
        module(
            "NodeModel",
            in: "Apps",
            [
                "CommandModel", "RunarNode", "Circle", "Registration", "RegistrationModel", "SealedMessages",
                "OneTimeKeys", "NanoTDF", "Bytes", "Identity",
                "Certificates", "Concurrency", "Kademlia", "Traversal", "Platform", "Database", "NodeStore", "Node",
                logging, metrics, deque,
            ]
        ),
        // The node as a program: its HTTP API, the console, the control socket and their client.
        module(
            "NodeService",
            in: "Apps",
            [
                "CommandModel", "NodeModel", "APIDescription", "HTTPAPI", "Console", "Registration", "IdentityClient",
                "WebClient", "TLSChannel", "MetricsText", "RunarNode",
                "Bytes", "Identity",
                "Certificates", "Concurrency", "QRCode", "Platform", logging, nio, nioPosix, nioHTTP1,
            ]
        ),
        // The licences of everything in the program, embedded.
        .target(name: "CNotices", path: "Sources/Apps/CNotices"),
        .executableTarget(
            name: "runar",
            dependencies: [
                "CNotices", "CommandModel", "CommandKit", "NodeModel", "NodeService", "CircleModel", "RunarNode",
                "NanoTDF", "Simulation", "Bytes", "Identity", "Concurrency", "NodeCore", "QRCode", "ImageFiles",
                "Traversal", "Transport", "QUIC", "Platform", "Database", "NodeStore", "IdentityServer", "HTTPAPI",
                "TokenIssuer", "Gateway", "ExitClient", "ExitModel", "Tunnel", "TLSChannel", "WebClient",
                "Certificates", logging, arguments,
            ],
            path: "Sources/Apps/runar",
            swiftSettings: house
        ),

        .target(name: "CRunar", path: "Sources/Apps/CRunar"),
        module(
            "RunarC",
            in: "Apps",
            [
                "Essentials", "CRunar", "CommandModel", "NodeModel", "RunarNode", "Circle", "SealedMessages", "NanoTDF",
                "Concurrency",
                logging,
            ]
        ),

        // Benchmarks: in this package for its `package` access, in none of its products.
        .executableTarget(
            name: "runar-bench",
            dependencies: [
                "Circle", "RunarNode", "SealedMessages", "NanoTDF", "OneTimeKeys", "Bytes", "Identity", "Concurrency",
                "Transport", "QUIC", "Platform", "Database", "NodeStore", "CircleStore", "Mailbox", "QRCode",
                "QRCorpus", "IdentityServer", "IdentityStore", "RegistrationModel", "WebAuthn", "CommandModel", "Libc",
                "TokenIssuer", "Gateway", "BlindTokens", "ExitModel", "WireGuard", "CryptoPrimitives", "WebClient",
                "TLSChannel", "Tunnel", logging, crypto, cryptoExtras,
            ],
            path: "Benchmarks/Sources/runar-bench",
            swiftSettings: house
        ),

        // Examples: the programs of which the documents show parts, built so that the parts stay true.
        .executableTarget(name: "two-nodes", dependencies: ["RunarNode"], path: "Examples/two-nodes"),
        .executableTarget(name: "simulated-network", dependencies: ["RunarNode"], path: "Examples/simulated-network"),
        .executableTarget(name: "chat", dependencies: ["RunarNode"], path: "Examples/chat"),
        .executableTarget(name: "clipboard", dependencies: ["RunarNode"], path: "Examples/clipboard"),
        .executableTarget(name: "sensor", dependencies: ["RunarNode"], path: "Examples/sensor"),
        .executableTarget(name: "hello-c", dependencies: ["CRunar", "RunarC"], path: "Examples/c"),

        // Tests mirror the sources; the first one keeps the house in order.
        tests(of: "Tidy", ["Failures"], settings: computing),
        .target(
            name: "CFailingDisk",
            path: "Tests/Helpers/CFailingDisk",
            cSettings: [.define("_GNU_SOURCE", .when(platforms: [.linux]))],
            linkerSettings: [.linkedLibrary("sqlite3")]
        ),
        .target(
            name: "TestSupport",
            dependencies: [
                "Libc", "Bytes", "Identity", "Concurrency", "Services", "Platform", "CFailingDisk", crypto,
            ],
            path: "Tests/TestSupport",
            swiftSettings: house
        ),
        tests(of: "Bytes", ["Bytes", "Identity", "TestSupport"]),
        tests(of: "Concurrency", ["Concurrency"]),
        .target(
            name: "QRCorpus",
            dependencies: ["QRCode", "TestSupport"],
            path: "Tests/QRCorpus",
            swiftSettings: computing
        ),
        tests(of: "QRCode", ["QRCode", "QRCorpus", "TestSupport"]),
        tests(of: "ImageFiles", ["ImageFiles", "QRCode", "TestSupport"]),
        .target(
            name: "TransportConformance",
            dependencies: ["Bytes", "Identity", "Concurrency", "Transport"],
            path: "Tests/TransportConformance",
            swiftSettings: house
        ),
        tests(of: "Transport", ["Bytes", "Identity", "Transport", "TransportConformance"]),
        tests(
            of: "QUIC",
            [
                "QUIC", "CQUICShim", "Transport", "Bytes", "Certificates", "Identity", "Concurrency",
                "TransportConformance", "TestSupport",
            ]
        ),
        tests(of: "Identity", ["Bytes", "Identity", "TestSupport", crypto]),
        tests(of: "NanoTDF", ["Bytes", "NanoTDF", "TestSupport", crypto, cryptoExtras]),
        tests(of: "OneTimeKeys", ["Bytes", "Identity", "NanoTDF", "OneTimeKeys", "TestSupport", crypto]),
        tests(of: "Certificates", ["Bytes", "Certificates", "Identity", "TestSupport"]),
        tests(
            of: "Interop",
            [
                "QUIC", "Transport", "WireGuard", "Tunnel", "TokenIssuer", "CryptoPrimitives", "Bytes", "Identity",
                "Concurrency", "Platform", "TransportConformance", "TestSupport", crypto,
            ]
        ),
        tests(
            of: "Command",
            [
                "runar", "BlindTokens", "CommandModel", "CommandKit", "NodeModel", "NodeService", "Registration",
                "RegistrationModel",
                "WebAuthn", "WebClient", "AuthenticatorSupport", "APIDescription", "HTTPAPI", "Console", "RunarNode",
                "NanoTDF", "Node", "Traversal", "Platform", "Bytes", "Certificates", "Concurrency", "Identity",
                "CryptoPrimitives", "ExitModel", "GatewayStore", "QRCode", "SlotStore", "TestSupport", logging,
            ]
        ),
        .target(
            name: "SlotStore",
            dependencies: ["Database", "NodeStore", grdb],
            path: "Tests/Helpers/SlotStore",
            swiftSettings: house
        ),
        .executableTarget(
            name: "CrashWriter",
            dependencies: ["Bytes", "Platform", "Database", "NodeStore", "SlotStore"],
            path: "Tests/Helpers/CrashWriter",
            swiftSettings: house
        ),
        .executableTarget(
            name: "LanProbe",
            dependencies: ["Identity", "Platform"],
            path: "Tests/Helpers/LanProbe",
            swiftSettings: house
        ),
        .executableTarget(
            name: "PrivilegeProbe",
            dependencies: ["Libc", "Platform"],
            path: "Tests/Helpers/PrivilegeProbe",
            swiftSettings: house
        ),
        .executableTarget(
            name: "Soak",
            dependencies: ["RunarNode", "Concurrency", "TestSupport"],
            path: "Tests/Helpers/Soak",
            swiftSettings: house
        ),
        // Built with the tests, and run by them.
        tests(
            of: "Program",
            [
                "two-nodes", "simulated-network", "chat", "clipboard", "sensor", "hello-c", "Soak", "runar-bench",
                "TestSupport",
            ]
        ),
        .executableTarget(name: "CProbe", dependencies: ["CRunar", "RunarC"], path: "Tests/Helpers/CProbe"),
        tests(of: "RunarC", ["CRunar", "RunarNode", "Circle", "SealedMessages", "CProbe", "TestSupport"]),
        tests(
            of: "Platform",
            [
                "Bytes", "Concurrency", "Identity", "Libc", "Platform", "TestSupport", "CrashWriter", "LanProbe",
                "PrivilegeProbe", crypto,
            ]
        ),
        tests(
            of: "Storage",
            [
                "Essentials", "Bytes", "Identity", "CircleModel", "Platform", "Database", "NodeStore", "CircleStore",
                "SlotStore", "TestSupport", "CrashWriter", grdb,
            ]
        ),
        tests(of: "Discovery", ["Bytes", "Discovery", "Identity", "Concurrency", "TestSupport", heap, ordered]),
        tests(of: "Kademlia", ["Bytes", "Identity", "Kademlia", "TestSupport", heap]),
        tests(of: "Mailbox", ["Bytes", "Identity", "Mailbox", "TestSupport", heap, ordered]),
        tests(of: "PubSub", ["Bytes", "Identity", "PubSub", "TestSupport", heap]),
        tests(of: "Services", ["Bytes", "Identity", "Services", "TestSupport"]),
        tests(of: "Traversal", ["Bytes", "Identity", "Traversal", "TestSupport", heap, ordered, crypto]),
        tests(
            of: "NodeCore",
            [
                "Bytes", "Identity", "Concurrency", "Discovery", "Kademlia", "Mailbox", "NodeCore", "Traversal",
                "TestSupport",
                ordered,
            ]
        ),
        tests(
            of: "Node",
            [
                "Bytes", "Identity", "Concurrency", "Kademlia", "NodeCore", "Node", "Platform", "QUIC", "Services",
                "Transport", "TestSupport", logging, tracing, inMemoryTracing,
            ]
        ),
        .executableTarget(
            name: "SealedWriter",
            dependencies: ["SealedMessages", "OneTimeKeys", "RunarNode", "Transport", "Platform", "Bytes", "Identity"],
            path: "Tests/Helpers/SealedWriter",
            swiftSettings: house
        ),
        tests(
            of: "SealedMessages",
            [
                "SealedMessages", "RunarNode", "OneTimeKeys", "Transport", "Platform", "Bytes", "Identity",
                "Concurrency", "TestSupport", "SealedWriter",
            ]
        ),
        tests(
            of: "Circle",
            [
                "Circle", "CircleModel", "SealedMessages", "RunarNode", "Mailbox", "NodeStore", "CircleStore",
                "Transport", "QUIC", "Platform", "Bytes",
                "Identity",
                "NanoTDF", "OneTimeKeys", "Concurrency", "TestSupport", crypto, cryptoExtras,
            ]
        ),
        tests(of: "MetricsText", ["MetricsText", "TestSupport", metrics]),
        tests(
            of: "Console",
            [
                "HTTPAPI", "Console", "MetricsText", "RunarNode", "Platform", "Bytes", "Certificates", "Identity",
                "Concurrency", "TestSupport", logging, metrics,
            ]
        ),
        tests(
            of: "HTTPAPI",
            [
                "HTTPAPI", "ConsolePages", "IdentityPages", "Certificates", "Identity", "Concurrency",
                "TestSupport", logging, nio, nioEmbedded,
            ]
        ),
        tests(
            of: "APIDescription",
            [
                "APIDescription", "HTTPAPI", "CommandModel", "Failures", "Identity", "Concurrency", "TestSupport",
                logging,
            ]
        ),
        // An authenticator without a person, of which each step can be made wrong.
        .target(
            name: "AuthenticatorSupport",
            dependencies: ["Bytes", "Identity", "WebAuthn", crypto, cryptoExtras],
            path: "Tests/AuthenticatorSupport",
            swiftSettings: house
        ),
        tests(
            of: "WebAuthn",
            [
                "Failures", "Bytes", "Certificates", "WebAuthn", "AuthenticatorSupport", "TestSupport", crypto,
            ]
        ),
        tests(of: "CryptoPrimitives", ["CryptoPrimitives", "Bytes", "TestSupport"]),
        tests(of: "BlindTokens", ["BlindTokens", "Failures", "Bytes", "TestSupport", crypto, cryptoExtras]),
        tests(of: "ExitModel", ["ExitModel", "Bytes", "Identity", "TestSupport"]),
        tests(of: "WireGuard", ["WireGuard", "CryptoPrimitives", "Bytes", "Identity", "TestSupport", heap]),
        tests(of: "IssuerStore", ["IssuerStore", "Database", "Identity", "TestSupport", grdb]),
        // What each store of spent tokens must do.
        .target(
            name: "SpentSetConformance",
            dependencies: ["GatewayStore", "Identity"],
            path: "Tests/SpentSetConformance",
            swiftSettings: house
        ),
        .executableTarget(
            name: "TokenRacer",
            dependencies: ["GatewayStore", "Bytes", "Identity"],
            path: "Tests/Helpers/TokenRacer",
            swiftSettings: house
        ),
        tests(
            of: "GatewayStore",
            [
                "GatewayStore", "SpentSetConformance", "TokenRacer", "Database", "Failures", "Bytes", "Identity",
                "Concurrency", "TestSupport", grdb,
            ]
        ),
        tests(
            of: "Tunnel",
            ["Tunnel", "WireGuard", "CryptoPrimitives", "Bytes", "Identity", "Concurrency", "Platform", "TestSupport"]
        ),
        tests(
            of: "TokenIssuer",
            [
                "TokenIssuer", "ExitModel", "BlindTokens", "CommandModel", "WebClient", "Certificates", "Failures",
                "Bytes", "Identity", "Concurrency", "Platform", "TestSupport", logging, crypto,
            ]
        ),
        tests(
            of: "Gateway",
            [
                "Gateway", "GatewayStore", "Tunnel", "ExitModel", "BlindTokens", "CryptoPrimitives", "APIDescription",
                "HTTPAPI",
                "WebClient", "TLSChannel", "CommandModel", "Certificates", "Bytes", "Identity", "Concurrency",
                "Platform", "TestSupport", logging,
            ]
        ),
        tests(
            of: "ExitClient",
            [
                "ExitClient", "ExitModel", "BlindTokens", "TokenIssuer", "IssuerStore", "Gateway", "GatewayStore",
                "HTTPAPI", "CommandModel", "Certificates", "CryptoPrimitives", "WebClient", "TLSChannel", "Transport",
                "Failures", "Bytes", "Identity", "Concurrency", "Platform", "TestSupport", httpTypes, logging, crypto,
            ],
            // A search of some millions of bytes.
            settings: computing
        ),
        tests(
            of: "IdentityStore",
            ["IdentityStore", "Database", "RegistrationModel", "Identity", "Platform", "TestSupport", grdb]
        ),
        tests(
            of: "Registration",
            [
                "Registration", "RegistrationModel", "WebAuthn", "CircleModel", "Essentials", "Failures", "Bytes",
                "Identity", "Concurrency", "Platform", "TestSupport",
            ]
        ),
        tests(
            of: "IdentityClient",
            [
                "IdentityClient", "WebClient", "TLSChannel", "Registration", "RegistrationModel", "WebAuthn", "Bytes",
                "Identity", "Concurrency", "TestSupport",
            ]
        ),
        tests(
            of: "IdentityServer",
            [
                "IdentityServer", "APIDescription", "HTTPAPI", "CommandModel", "IdentityStore", "RegistrationModel",
                "WebAuthn", "NanoTDF", "WebClient", "TLSChannel", "Bytes", "Identity", "Concurrency", "Platform",
                "AuthenticatorSupport", "TestSupport", logging, crypto,
            ]
        ),
        tests(
            of: "RegistrationModel",
            ["Failures", "Bytes", "Identity", "NanoTDF", "WebAuthn", "RegistrationModel", "TestSupport"]
        ),
        tests(
            of: "WebClient",
            [
                "WebClient", "TLSChannel", "HTTPAPI", "Certificates", "Bytes", "Concurrency", "TestSupport", logging,
                nio, nioEmbedded,
            ]
        ),
        // Real processes, whose consoles a real browser shows.
        tests(of: "ConsoleBrowser", ["runar", "TestSupport"]),
        tests(of: "Simulation", ["Simulation", "Bytes", "Identity", "TestSupport"]),
        // Real processes in network namespaces.
        .executableTarget(
            name: "Cable",
            dependencies: ["TestSupport"],
            path: "Tests/Helpers/Cable",
            swiftSettings: house
        ),
        tests(of: "Lab", ["runar", "CommandModel", "NodeModel", "NodeService", "Concurrency", "TestSupport", "Cable"]),
        tests(
            of: "RunarNode",
            [
                "Bytes", "Concurrency", "Identity", "Mailbox", "NodeCore", "PubSub", "RunarNode", "Simulation",
                "Transport",
                "QUIC",
                "Node", "Platform", "Database", "NodeStore", "SlotStore", "Traversal", "TestSupport", "runar", logging,
            ]
        ),
    ]
)

// A package has one test bundle. `RUNAR_SUITES="QUICTests InteropTests"` leaves the other suites out of it, for builds
// under other settings (`make sanitize`, `make check-ngtcp2-1x`, `make check-posix-udp`).
if let suites = Context.environment["RUNAR_SUITES"]?.split(separator: " ").map(String.init) {
    package.targets.removeAll { $0.isTest && !suites.contains($0.name) }
}

// Links only with libFuzzer (`make fuzz`), so other builds leave it out.
if Context.environment["RUNAR_FUZZ"] != nil {
    package.targets.append(
        .executableTarget(
            name: "fuzz",
            dependencies: ["Circle", "Mailbox", "OneTimeKeys", "NanoTDF", "Bytes", "Identity"],
            path: "Tests/Fuzz"
        )
    )
}
