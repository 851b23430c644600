package import Failures
internal import Identity
internal import NodeCore

extension NodeError: CodedError {
    package var failureCode: FailureCode {
        switch self {
        case .ownDevice: FailureCode("own-device", .invalidParameters, .data)
        case .noAddress: FailureCode("no-address", .noAddress, .unavailable)
        case .unreachable: FailureCode("unreachable", .unreachable, .unavailable)
        case .banned: FailureCode("banned", .refused, .notPermitted)
        case .noSharedNetwork: FailureCode("no-shared-network", .notAMember, .unavailable)
        case .refusedByPeer(_, CloseCode.tooManyPeers.explanation):
            FailureCode("refused-by-peer", .tooManyPeers, .notPermitted)
        case .refusedByPeer: FailureCode("refused-by-peer", .refused, .notPermitted)
        case .refused: FailureCode("peer-refused", .refused, .notPermitted)
        case .interrupted: FailureCode("interrupted", .interrupted, .tryAgain)
        case .timedOut: FailureCode("timed-out", .timedOut, .tryAgain)
        case .tooLarge: FailureCode("too-large", .tooLarge, .data)
        case .noListener: FailureCode("no-listener", .noService, .unavailable)
        case .receiverBusy: FailureCode("receiver-busy", .busy, .tryAgain)
        case .tooMuchMail: FailureCode("too-much-mail", .busy, .tryAgain)
        case .declined: FailureCode("declined", .refused, .notPermitted)
        case .fileRefused(_, .noRoom): FailureCode("no-room", .notStored, .tryAgain)
        case .fileRefused(_, .notStored): FailureCode("not-stored", .notStored, .tryAgain)
        case .fileRefused(_, .busy): FailureCode("receiver-busy", .busy, .tryAgain)
        case .fileRefused(_, .unanswered): FailureCode("unanswered", .timedOut, .tryAgain)
        case .fileRefused(_, .unattended): FailureCode("unattended", .noService, .unavailable)
        case .damaged: FailureCode("damaged", .interrupted, .tryAgain)
        case .file: FailureCode("file", .io, .inputOutput)
        case .notRunning: FailureCode("not-running", .notRunning, .unavailable)
        case .badToken: FailureCode("bad-token", .badToken, .data)
        case .notAMember: FailureCode("not-a-member", .notAMember, .notPermitted)
        case .notTheOwner: FailureCode("not-the-owner", .invalidParameters, .notPermitted)
        case .networkIndexNeeded: FailureCode("index-needed", .invalidParameters, .usage)
        case .networkIndexRefused: FailureCode("bad-index", .invalidParameters, .usage)
        case .noLocalNetwork: FailureCode("no-local-network", .network, .unavailable)
        }
    }

    package var commandMessage: String {
        if case .networkIndexNeeded(let next) = self { return Self.indexNeeded(next) }
        return advice.map { "\(self); \($0)" } ?? "\(self)"
    }

    private var advice: String? {
        switch self {
        case .noAddress:
            "`runar network address` prints it there, `runar connect` takes it here; on the same local network it is"
                + " found by itself while `runar up` runs there"
        case .unreachable: "is it online, and does `runar up` run there? `runar doctor PEER` says more"
        case .banned:
            "you revoked the trust in its person or blocked them: `runar circle accept` or `runar circle unblock` lets it"
                + " connect again"
        case .noSharedNetwork: "join the peer's network, or dial it with `runar connect`"
        case .interrupted: "try again"
        case .timedOut: "try again, or let the node wait longer with `runar up --request-timeout`"
        case .noListener: "run `runar listen` there"
        case .fileRefused(_, .noRoom): "free some space there, and send it again"
        case .fileRefused(_, .notStored): "the log there, and `runar listen`, contain the reason"
        case .fileRefused(_, .busy): "try again later"
        case .fileRefused(_, .unanswered): "send it again when a person is at that device"
        case .fileRefused(_, .unattended):
            "open the console or run `runar listen` there, or let that node take files with --accept-files"
        case .notRunning: "run `runar up`"
        case .notAMember: "run `runar join`"
        case .badToken(.revoked): "`runar keys renew-device` on that device makes one"
        case .notTheOwner: "only a device with the root key that made the network can do this"
        case .noLocalNetwork: "`runar connect` reaches them by address"
        case .ownDevice, .refusedByPeer, .refused, .tooLarge, .receiverBusy, .tooMuchMail, .declined, .damaged, .file,
            .badToken,
            .networkIndexNeeded, .networkIndexRefused:
            nil
        }
    }

    private static func indexNeeded(_ next: UInt32) -> String {
        """
        this device's root key was restored, and the networks that it made elsewhere are not known here; a network \
        with the number of an old one is that network again, without its revocations. Give the texts of all your \
        networks to `runar join`, then add --index \(next) (or, if the texts are lost, a number that none of them \
        has; the first was 0)
        """
    }
}
