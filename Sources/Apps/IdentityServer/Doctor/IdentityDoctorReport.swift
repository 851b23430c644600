internal import CommandModel

/// The report of an identity server's doctor.
package struct IdentityDoctorReport: Report {
    package let healthy: Bool
    package let findings: [IdentityFinding]

    package init(_ findings: [IdentityFinding]) {
        self.findings = findings
        healthy = !findings.contains { $0.severity == .problem }
    }

    package var lines: [String] {
        var lines: [String] = []
        for finding in findings {
            lines.append("\(Self.mark(finding.severity))  \(finding.message)")
            if let reason = finding.reason { lines.append("         why: \(reason)") }
            if let advice = finding.advice { lines.append("         do: \(advice)") }
        }
        return lines + [verdict]
    }

    /// The closing sentence.
    private var verdict: String {
        let count = findings.count { $0.severity == .problem }
        return switch count {
        case 0: "Everything that was checked works."
        case 1: "There is 1 problem: see the line marked PROBLEM."
        default: "There are \(count) problems: see the lines marked PROBLEM."
        }
    }

    private static func mark(_ severity: IdentityFinding.Severity) -> String {
        switch severity {
        case .ok: "ok     "
        case .warning: "warning"
        case .problem: "PROBLEM"
        }
    }
}
