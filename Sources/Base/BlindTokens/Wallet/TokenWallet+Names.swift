extension TokenWallet {
    /// The host name of the issuer.
    public var issuerName: String { state.issuerName }

    /// The name of the exit.
    public var originInfo: String { state.originInfo }
}
