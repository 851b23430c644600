internal import Identity
internal import Node

extension NodeError {
    /// The problem and the next step with this command.
    var message: String {
        if case .networkIndexNeeded(let next) = self { return Self.indexNeeded(next) }
        return advice.map { "\(self); \($0)" } ?? "\(self)"
    }

    private var advice: String? {
        switch self {
        case .noAddress:
            "`runar network address` prints it there, `runar connect` takes it here; on the same local network it is"
                + " found by itself while `runar up` runs there"
        case .unreachable: "check the address and that `runar up` runs there"
        case .noSharedNetwork: "join the peer's network, or dial it with `runar connect`"
        case .interrupted: "try again"
        case .timedOut: "try again, or let the node wait longer with `runar up --request-timeout`"
        case .noListener: "`runar listen` does it there"
        case .declined: "there `runar listen` asks a person, and --accept-files takes files without a question"
        case .notRunning: "`runar up` does it"
        case .notAMember: "`runar join` does it"
        case .badToken(.revoked): "`runar keys renew-device` on that device makes one"
        case .notTheOwner: "only a device with the root key that made the network can do this"
        case .noLocalNetwork: "`runar connect` reaches them by address"
        case .refusedByPeer, .refused, .tooLarge, .receiverBusy, .tooMuchMail, .damaged, .file, .badToken,
            .networkIndexNeeded, .networkIndexRefused:
            nil
        }
    }

    private static func indexNeeded(_ next: UInt32) -> String {
        """
        this device's root key was brought here, and what networks it made elsewhere is not known; one with the number \
        of an old one would be that old network again, with its members and without its revocations. Give the texts of \
        all your networks to `runar join`, then add --index \(next) (or, if the texts are lost, a number that surely \
        none of them has; the first was 0)
        """
    }
}
