internal import Identity

/// A location that a client can choose, in the fields of the VPN client design.
package struct ServerLocation: Hashable, Sendable {
    /// The most bytes of an id.
    package static let idByteLimit = 64
    /// The values of a load, in percent.
    package static let loads = 0...100

    /// The id within the exit: 1 to 64 lower-case letters, digits and hyphens, such as `us-east-1`.
    package let id: String
    /// The name that people read: 1 to 64 bytes of UTF-8 that show.
    package let name: String
    /// The two upper-case letters of ISO 3166-1.
    package let countryCode: String
    /// The load of the gateway in percent, 0 to 100.
    package let load: Int
    /// Whether the location is part of a paid plan only.
    package let premium: Bool

    /// Checks the fields.
    ///
    /// - Throws: ``ExitModelError/malformed(of:reason:)``.
    package init(
        id: String,
        name: String,
        countryCode: String,
        load: Int,
        premium: Bool
    ) throws(ExitModelError) {
        guard 1...Self.idByteLimit ~= id.utf8.count,
            id.utf8.allSatisfy({ ASCIIWord.isLowerCaseOrDigit($0) || $0 == UInt8(ascii: "-") })
        else {
            throw .malformed(
                of: "the id of the location",
                reason: "it has 1 to 64 lower-case letters, digits and hyphens"
            )
        }
        try PlaceName.check(name, of: "the name of the location")
        guard countryCode.utf8.count == 2,
            countryCode.utf8.allSatisfy({ (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) })
        else {
            throw .malformed(of: "the country", reason: "it is two upper-case letters, such as US")
        }
        guard Self.loads.contains(load) else {
            throw .malformed(of: "the load", reason: "it is a number from 0 to 100")
        }
        self.id = id
        self.name = name
        self.countryCode = countryCode
        self.load = load
        self.premium = premium
    }
}

extension ServerLocation: Codable {
    private enum CodingKeys: String, CodingKey {
        case id
        case name
        case countryCode
        case load
        case premium
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        try self.init(
            id: container.decode(String.self, forKey: .id),
            name: container.decode(String.self, forKey: .name),
            countryCode: container.decode(String.self, forKey: .countryCode),
            load: container.decode(Int.self, forKey: .load),
            premium: container.decode(Bool.self, forKey: .premium)
        )
    }
}

/// The place of a gateway, coarse enough for a list and a map.
package struct GatewayPlace: Hashable, Sendable {
    /// The city: 1 to 64 bytes of UTF-8 that show.
    package let city: String
    /// The degrees north of the equator, -90 to 90.
    package let latitude: Double
    /// The degrees east of Greenwich, -180 to 180.
    package let longitude: Double

    /// Checks the fields.
    ///
    /// - Throws: ``ExitModelError/malformed(of:reason:)``.
    package init(city: String, latitude: Double, longitude: Double) throws(ExitModelError) {
        try PlaceName.check(city, of: "the city")
        guard (-90.0...90.0).contains(latitude), (-180.0...180.0).contains(longitude) else {
            throw .malformed(of: "the coordinates", reason: "they are degrees from -90 to 90 and from -180 to 180")
        }
        self.city = city
        self.latitude = latitude
        self.longitude = longitude
    }
}

extension GatewayPlace: Codable {
    private enum CodingKeys: String, CodingKey {
        case city
        case latitude
        case longitude
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        try self.init(
            city: container.decode(String.self, forKey: .city),
            latitude: container.decode(Double.self, forKey: .latitude),
            longitude: container.decode(Double.self, forKey: .longitude)
        )
    }
}

/// The rule for names of locations and cities.
private enum PlaceName {
    static func check(_ name: String, of subject: String) throws(ExitModelError) {
        do {
            try NameRule.check(name)
        } catch {
            throw .malformed(of: subject, reason: "\(error)")
        }
    }
}
