extension VPNStateMachine {
    /// A lease, whose tunnel exists or is being made.
    struct Lease: Sendable {
        let gateway: Gateway.ID
        let configuration: Configuration
        let end: Duration
    }

    /// The renewal of the lease.
    struct Renewal: Sendable {
        enum Step: Sendable {
            case finding, taking, redeeming, updating
        }

        /// The time of the next attempt; nil during one.
        var time: Duration?
        /// The step of the attempt in progress.
        var step: Step?
        /// The gateways that refused a token, which are tried last.
        var refusing: Set<Gateway.ID> = []
        /// The gateways that took a token without a tunnel that works, which are not tried again.
        var silent: Set<Gateway.ID> = []
        /// The failure of the last attempt; nil once the lease is renewed.
        var attemptFailure: VPNFailure?
        /// The failure of the last reading of the directory.
        var directoryFailure: VPNFailure?
    }
}
