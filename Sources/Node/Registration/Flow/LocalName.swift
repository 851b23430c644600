/// A name for the profile of a person who has no account yet: two plain words and a number.
package enum LocalName {
    /// The most bytes of a generated name.
    package static let byteLimit = 32

    private static let adjectives = [
        "Amber", "Autumn", "Brave", "Bright", "Calm", "Clear", "Clever", "Coral", "Early", "Easy", "Fair", "Gentle",
        "Golden", "Happy", "Hidden", "Honest", "Kind", "Late", "Light", "Lively", "Lucky", "Misty", "Noble", "Open",
        "Patient", "Quick", "Quiet", "Silver", "Steady", "Summer", "Sunny", "Swift",
    ]
    private static let nouns = [
        "Alder", "Badger", "Beech", "Birch", "Brook", "Cedar", "Comet", "Dune", "Eagle", "Falcon", "Fern", "Finch",
        "Fox", "Harbor", "Heron", "Island", "Lake", "Lark", "Maple", "Meadow", "Otter", "Owl", "Pebble", "Pine",
        "Raven", "River", "Robin", "Sparrow", "Stone", "Swan", "Valley", "Willow",
    ]

    /// Returns a name such as "Quiet Heron 4821"; different people rarely get the same one.
    package static func make(using random: inout some RandomNumberGenerator) -> String {
        let adjective = adjectives[Int.random(in: adjectives.indices, using: &random)]
        let noun = nouns[Int.random(in: nouns.indices, using: &random)]
        return "\(adjective) \(noun) \(Int.random(in: 1_000...9_999, using: &random))"
    }
}
