internal import ExitModel

/// The order in which gateways are tried.
enum GatewayOrder {
    /// Returns the gateways of a location that take new clients, those with less load first.
    ///
    /// A location is an id such as `us-east-1`, the beginning of ids up to a hyphen, or a country.
    static func order(_ gateways: [GatewayDescription], location: String?) -> [GatewayDescription] {
        gateways.filter { gateway in
            !gateway.isDraining && location.map { matches(gateway.location, $0) } ?? true
        }.sorted { ($0.location.load, $0.location.id) < ($1.location.load, $1.location.id) }
    }

    private static func matches(_ location: ServerLocation, _ text: String) -> Bool {
        let text = text.lowercased()
        return location.id == text || location.id.hasPrefix(text + "-") || location.countryCode.lowercased() == text
    }
}
