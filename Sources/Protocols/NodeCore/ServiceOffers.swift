internal import Identity
internal import Services

/// The services that this node offers, in each network that it is, or may become, a member of.
struct ServiceOffers: Sendable {
    private var offers: [NetworkId: [ServiceOffer]] = [:]

    /// The offers in a network; nil if there are none.
    subscript(network: NetworkId) -> [ServiceOffer]? {
        get { offers[network] }
        set { offers[network] = newValue?.isEmpty == true ? nil : newValue }
    }
}
