internal import Foundation
internal import Identity
internal import Platform
internal import RunarNode
internal import TestSupport
internal import Testing

@testable internal import CommandModel
@testable internal import NodeModel
@testable internal import NodeService
@testable internal import runar

@Suite("A revoked device") struct RevokedTests {
    private let folder: TemporaryDataDirectory
    private let handler: RequestHandler
    private let network: NetworkId

    /// A node that is never started, in a network from which its device was removed and in one from which it was not.
    init() throws {
        folder = try TemporaryDataDirectory()
        let keys = InMemoryKeyStorage()
        let node = try RunarNode(config: RunarNodeConfig(keyStorage: keys, statePath: nil))
        network = try node.createNetwork(name: "Home").networkId
        _ = try node.createNetwork(name: "Office")
        try node.revoke(node.peerId, in: network)
        let settings = try Settings(flags: [:], environment: { _ in nil }, file: [:])
        let home = try DataDirectory(at: folder.path)
        handler = RequestHandler(node: node, keys: keys, home: home, settings: settings)
    }

    @Test func `a request fails with the revocation and the way back`() {
        let peer = PeerId(publicKey: Ed25519KeyPair().publicKey)
        let failures = [
            handler.failure(NodeError.noSharedNetwork(peer), in: nil),
            handler.failure(NodeError.notAMember(network), in: nil),
            handler.failure(DHTError.notAMember, in: NetworkName("Home")),
        ]
        for failure in failures {
            #expect(failure.code == "revoked" && failure.status == .notPermitted)
            #expect(failure.message.contains("Home") && failure.message.contains("runar keys renew-device"))
        }
    }

    @Test func `another failure and another network are reported as before`() {
        let peer = PeerId(publicKey: Ed25519KeyPair().publicKey)
        #expect(handler.failure(NodeError.timedOut(peer), in: nil).code == "timed-out")
        #expect(handler.failure(DHTError.notAMember, in: NetworkName("Office")).code == "not-a-member")
    }

    @Test func `the list of networks says that the revocation is final`() throws {
        let reports = try handler.networkReports()
        #expect(reports.filter(\.isRevoked).map(\.name) == ["Home"])
        for report in reports {
            let text = report.line + report.lines.joined()
            #expect(text.contains("for good") == report.isRevoked)
        }
    }
}
