internal import Identity
internal import Testing

@testable internal import NodeCore

@Suite("Versions") struct VersionTests {
    /// A hello of version 1: it had no capabilities.
    private func helloOfVersion1(_ token: AccessToken) -> [UInt8] {
        [1, 1] + [UInt8](repeating: 7, count: InstanceId.byteCount) + [1, 0] + token.binary
    }

    @Test func `a peer of an older version receives this node's, in the place where it reads the version`() throws {
        var net = CoreNetwork(hasTables: false)
        let (alice, bob) = (try net.addNode(), try net.addMember())
        net.bareLink(alice, bob)
        let hello = self.helloOfVersion1(try net.token(for: net.nodes[alice].peerId))
        net.forge(hello, from: alice, on: net.lastLink)
        #expect(net.refusals(by: bob) == [.unsupportedVersion(found: 1, supported: 2)])
        // Type and version, and nothing of the node.
        #expect(net.frames(by: bob).map(\.bytes) == [[2, 2] + [UInt8](repeating: 0, count: 19)])
        let lingers = net.count(by: bob) { effect in
            if case .connection(.close(_, .protocolViolation, lingers: true)) = effect { true } else { false }
        }
        #expect(lingers == 1)
    }

    @Test func `a dialler names the version of a responder that refuses its own`() throws {
        var net = CoreNetwork(hasTables: false)
        let (alice, mallory) = (try net.addMember(), try net.addNode())
        let ids = net.linkAlone(alice, mallory)
        net.forge([2, 3] + [UInt8](repeating: 0, count: 19), from: mallory, on: ids.responder)
        #expect(net.refusals(by: alice) == [.unsupportedVersion(found: 3, supported: 2)])
        #expect(net.closeCodes(by: alice) == [.protocolViolation])
        #expect(!net.frames(by: alice).contains { if case .helloReply = $0 { true } else { false } })
    }

    @Test func `a joiner of another version receives this node's`() throws {
        var net = CoreNetwork(hasTables: false)
        let (inviter, joiner) = (try net.addMember(), try net.addNode())
        net.bareLink(joiner, inviter)
        net.forge([4, 1] + [UInt8](repeating: 0, count: Frame.proofByteCount), from: joiner, on: net.lastLink)
        #expect(net.refusals(by: inviter) == [.unsupportedVersion(found: 1, supported: 2)])
        #expect(net.frames(by: inviter).count == 1)
    }
}
