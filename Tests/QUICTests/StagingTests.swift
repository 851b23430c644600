internal import Identity
internal import Testing
internal import Transport
internal import TransportConformance

@testable internal import QUIC

/// Bytes between the engine and the reader of a stream.
@Suite("Staging") struct StagingTests {
    @Test(arguments: [1, 1100, 1400, 14_000])
    func `a staged piece takes no more memory than arrays grow by`(byteCount: Int) async throws {
        let endpoint = try loopbackEndpoint()
        let core = ConnectionCore(loop: endpoint.loop, remote: try address(of: endpoint), expected: nil)
        let stream = StreamCore(connection: core, isRemote: true)
        let bytes = [UInt8](repeating: 7, count: byteCount)
        unsafe bytes.withUnsafeBufferPointer { unsafe stream.stage($0) }
        let staged = stream.takeStaged()
        #expect(staged == bytes)
        #expect(staged.capacity <= 2 * byteCount + 64)
        await endpoint.close(code: 0)
    }
}
