internal import Foundation
internal import TestSupport
internal import Testing

/// Two members whose nodes run and are connected.
struct ConnectedPair {
    let owner: TemporaryDataDirectory
    let member: TemporaryDataDirectory
    let ownerId: String
    let memberId: String
    let nodes: [RunningCommand]

    init(ownerEnvironment: [String: String] = [:], memberEnvironment: [String: String] = [:]) throws {
        let (owner, member) = (try TemporaryDataDirectory(), try TemporaryDataDirectory())
        (self.owner, self.member) = (owner, member)
        ownerId = try owner.makeNode()
        memberId = try member.makeNode()
        let text = try owner.answer(["network", "create", "Home"]).text("text")
        let token = try owner.answer(["network", "issue", memberId, "--label", "phone"]).text("text")
        _ = try member.answer(["join", text, token])
        let ownerNode = try RunningCommand(["up", "--json"], home: owner, environment: ownerEnvironment)
        let address = try #require((ownerNode.next("ready")["addresses"] as? [String])?.first)
        let memberNode = try RunningCommand(["up", "--json"], home: member, environment: memberEnvironment)
        _ = try memberNode.next("ready")
        nodes = [ownerNode, memberNode]
        let place = try owner.answer(["network", "address", "--address", address]).text("text")
        _ = try member.answer(["connect", place])
        // The side that accepts learns of it after the one that connects.
        _ = try ownerNode.next("peerJoined")
    }

    func end() throws {
        for home in [member, owner] { _ = try home.answer(["stop"]) }
    }
}
