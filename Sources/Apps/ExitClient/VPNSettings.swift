package import ExitModel
package import Identity

/// The exit that a client uses.
package struct VPNSettings: Hashable, Sendable {
    /// The directory of gateways.
    package var exit: ExitURL
    /// The operator's key, which the client pins.
    package var operatorKey: Ed25519PublicKey
    /// Whether a person is asked about the use of new tokens; otherwise they wait for a random time.
    package var asksAboutNewTokens: Bool

    package init(exit: ExitURL, operatorKey: Ed25519PublicKey, asksAboutNewTokens: Bool = false) {
        self.exit = exit
        self.operatorKey = operatorKey
        self.asksAboutNewTokens = asksAboutNewTokens
    }
}
