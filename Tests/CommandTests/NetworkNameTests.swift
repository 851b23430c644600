internal import Foundation
internal import Identity
internal import Platform
internal import RunarNode
internal import TestSupport
internal import Testing

@testable import CommandModel
@testable internal import NodeModel
@testable internal import NodeService
@testable internal import runar

@Suite("Networks of one name") struct NetworkNameTests {
    @Test func `names are kept as they are looked up, and one that cannot be typed is refused`() throws {
        let keys = InMemoryKeyStorage()
        let node = try RunarNode(config: RunarNodeConfig(keyStorage: keys, statePath: nil))
        let network = try node.createNetwork(name: " \tMy Home\u{A0}\n").networkId
        #expect(try node.networks().map(\.name) == ["My Home"])
        #expect(try RequestHandler.choose(NetworkName(" My Home "), among: node.networks()).networkId == network)
        _ = try node.renameNetwork(network, to: " Cabin ")
        #expect(try node.networks().map(\.name) == ["Cabin"])
        for name in ["   ", "\u{2003}\u{A0}", "My:Net", ":", ""] {
            #expect(throws: IdentityError.self) { try node.createNetwork(name: name) }
            #expect(throws: IdentityError.self) { try node.renameNetwork(network, to: name) }
        }
        let peer = PeerId(publicKey: Ed25519KeyPair().publicKey)
        _ = try node.issueToken(for: peer, in: network, expiration: nil, label: " phone ")
        #expect(try node.knownPeers().map(\.label) == ["phone"])
        #expect(throws: IdentityError.self) { try NodeAPI.label("  ") }
        #expect(try NodeAPI.label("") == nil)
    }

    @Test func `a second network of a name is made with a warning that names the option`() throws {
        let keys = InMemoryKeyStorage()
        let node = try RunarNode(config: RunarNodeConfig(keyStorage: keys, statePath: nil))
        let settings = try Settings(flags: [:], environment: { _ in nil }, file: [:])
        let folder = try TemporaryDataDirectory()
        let home = try DataDirectory(at: folder.path)
        let handler = RequestHandler(node: node, keys: keys, home: home, settings: settings)
        #expect(try handler.createNetwork("Home", index: nil).remark == nil)
        #expect(try handler.createNetwork("Office", index: nil).remark == nil)
        let second = try handler.createNetwork("Home", index: nil)
        #expect(second.remark?.contains("--network \(second.networkIdText.prefix(8))") == true)
        #expect(second.lines.last?.contains("--network") == true)
        let networks = try node.networks()
        for name in [nil, NetworkName("Home")] {
            let failure = #expect(throws: CommandFailure.self) { try RequestHandler.choose(name, among: networks) }
            #expect(failure?.code == "ambiguous-network" && failure?.message.contains("--network") == true)
        }
    }
}
