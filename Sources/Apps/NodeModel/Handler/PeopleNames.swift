package import Circle

/// The names of people, and the trust in them.
package struct PeopleNames: Sendable {
    private let ownId: PublicID?
    private let names: [PublicID: String]
    private let trust: [PublicID: Trust.State]

    package init(_ circle: CircleManager) {
        var (names, trust): ([PublicID: String], [PublicID: Trust.State]) = ([:], [:])
        for person in circle.people {
            names[person.id] = person.card?.profile.name
            trust[person.id] = person.trust
        }
        let card = circle.card
        if let card {
            names[card.publicID] = card.profile.name
            trust[card.publicID] = .trusted
        }
        ownId = card?.publicID
        self.names = names
        self.trust = trust
    }

    /// Returns the name of a person, or the id if no card is known.
    func name(of person: PublicID) -> String { names[person] ?? person.text }

    func trust(in person: PublicID) -> Trust.State { trust[person] ?? Trust.State.none }

    /// Whether it is this device's person.
    func isOwn(_ person: PublicID) -> Bool { person == ownId }
}
