internal import CommandModel
internal import Identity
internal import NodeModel
internal import NodeService
internal import Traversal

/// The answer of a STUN server, and the conclusions from it.
struct StunReport: Report {
    let server: String
    /// The address and port that the server saw.
    let publicAddress: String
    /// Whether there is a NAT in between.
    let translated: Bool
    /// The NAT's mapping behaviour; nil unless it was asked for.
    let mapping: String?
    /// The NAT's filtering behaviour; nil unless it was asked for.
    let filtering: String?
    /// The kind in plain words; nil unless it was asked for.
    let kind: String?

    init(_ report: NATReport, server: SocketAddress, isClassified: Bool) {
        self.server = server.description
        publicAddress = report.publicAddress.description
        translated = report.mapping != .notTranslated
        mapping = isClassified ? report.mapping.word : nil
        filtering = isClassified ? report.filtering.word : nil
        kind = isClassified ? report.kind : nil
    }

    var lines: [String] {
        [
            "public address  \(publicAddress), as \(server) sees it",
            translated
                ? "translation     there is a NAT between this device and the server"
                : "translation     none: this is an address of this device",
        ] + (kind.map { ["kind            \($0)"] } ?? [])
    }
}

extension NATMapping {
    /// The word in JSON.
    var word: String {
        switch self {
        case .notTranslated: "notTranslated"
        case .endpointIndependent: "endpointIndependent"
        case .addressDependent: "addressDependent"
        case .addressAndPortDependent: "addressAndPortDependent"
        case .unknown: "unknown"
        }
    }
}

extension NATFiltering {
    /// The word in JSON.
    var word: String {
        switch self {
        case .endpointIndependent: "endpointIndependent"
        case .addressDependent: "addressDependent"
        case .addressAndPortDependent: "addressAndPortDependent"
        case .unknown: "unknown"
        }
    }
}

extension NATDoubt {
    /// Why, for people.
    var words: String {
        switch self {
        case .notTested: "the test was not requested"
        case .noSecondAddress: "the server has no second address; `runar stun --serve` with two --listen has"
        case .secondAddressSilent: "the server's second address does not answer"
        case .changeRefused: "the server does not answer from its second address"
        }
    }
}

extension NATReport {
    /// The kind, with its traditional name, and its effect on connections.
    var kind: String {
        switch (mapping, filtering) {
        case (.notTranslated, .endpointIndependent): "open: no NAT and no firewall, every peer can connect"
        case (.notTranslated, .unknown(let doubt)):
            "no NAT; whether there is a firewall is not known: \(doubt.words)"
        case (.notTranslated, _): "firewall: no NAT, but only peers to which this device has sent can connect"
        case (.endpointIndependent, .endpointIndependent): "full cone NAT: every peer can connect to the public address"
        case (.endpointIndependent, .addressDependent):
            "address-restricted cone NAT: direct connections work when both sides begin at the same time"
        case (.endpointIndependent, .addressAndPortDependent):
            "port-restricted cone NAT: direct connections work when both sides begin at the same time, unless the other"
                + " side's NAT is symmetric; then they sometimes work"
        case (.endpointIndependent, .unknown(let doubt)):
            "cone NAT: every peer sees the same address; its filtering is not known: \(doubt.words)"
        case (.addressDependent, _), (.addressAndPortDependent, _):
            "symmetric NAT: each peer sees another port; direct connections work with other kinds of NAT, otherwise a"
                + " member relays"
        case (.unknown(let doubt), _): "not known: \(doubt.words)"
        }
    }
}
