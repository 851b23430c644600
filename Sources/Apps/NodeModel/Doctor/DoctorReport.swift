internal import CommandModel
internal import Identity

/// The report of `runar doctor`.
package struct DoctorReport: HintingReport {
    let healthy: Bool
    let findings: [Diagnosis.Finding]
    let interfaces: [DoctorFacts.Interface]
    let multicast: [DoctorFacts.Multicast]
    /// The interfaces on which the node does not look for members; nil without a running node.
    let leftOutInterfaces: [String]?
    /// The NAT's mapping behaviour; nil without a running node, and while this device is offline.
    let mapping: NodeFacts.Mapping?
    /// The NAT's filtering behaviour, measured with a second member; nil as `mapping` is.
    let filtering: String?
    /// The addresses at which peers see this device; nil as `mapping` is.
    let observed: [String]?
    let peer: PeerFacts?

    package init(_ diagnosis: Diagnosis) {
        let facts = diagnosis.facts
        healthy = diagnosis.isHealthy
        findings = diagnosis.findings
        interfaces = facts.interfaces
        multicast = facts.multicast
        let node = facts.node.flatMap { $0.isRunning ? $0 : nil }
        leftOutInterfaces = node?.leftOutInterfaces
        // Observations from before this device went offline are no longer true.
        let online = diagnosis.isOffline ? nil : node
        mapping = online?.mapping
        filtering = online?.filtering
        observed = online?.observed
        peer = facts.node?.peer
    }

    package var lines: [String] {
        var lines: [String] = []
        for finding in findings {
            lines.append("\(Self.mark(finding.level))  \(finding.message)")
            if let advice = finding.advice { lines.append("         do: \(advice)") }
        }
        lines.append(verdict)
        // The attempts before a connection explain nothing that is wrong.
        guard let peer, !peer.connected, !peer.history.isEmpty else { return lines }
        lines.append("last attempt to reach \(peer.label ?? peer.peerIdText):")
        return lines + peer.history.suffix(Self.mostSteps).map { "  \(LocalTime(seconds: $0.time))  \($0.text)" }
    }

    /// The steps of the last attempt that people read; `--json` has all.
    private static let mostSteps = 20

    /// The closing sentence.
    private var verdict: String {
        let count = findings.count { $0.level == .problem }
        return switch count {
        case 0: "Everything that was checked works."
        case 1: "There is 1 problem: see the line marked PROBLEM."
        default: "There are \(count) problems: see the lines marked PROBLEM."
        }
    }

    private static func mark(_ level: Diagnosis.Finding.Level) -> String {
        switch level {
        case .ok: "ok     "
        case .note: "note   "
        case .problem: "PROBLEM"
        }
    }
}
