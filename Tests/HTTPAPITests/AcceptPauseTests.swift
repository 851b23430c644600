internal import Foundation
internal import NIOCore
internal import NIOEmbedded
internal import Testing

@testable internal import HTTPAPI

@Suite("A listening channel without descriptors") struct AcceptPauseTests {
    private static func isReading(_ channel: EmbeddedChannel) -> Bool? {
        channel.options.last { $0.option is ChannelOptions.Types.AutoReadOption }?.value as? Bool
    }

    @Test(arguments: [EMFILE, ENFILE, ENOBUFS, ENOMEM])
    func `a shortage pauses accepting for a second`(code: Int32) throws {
        let channel = EmbeddedChannel(handler: AcceptPauseHandler())
        #expect(Self.isReading(channel) == nil)
        for _ in 0..<3 { channel.pipeline.fireErrorCaught(IOError(errnoCode: code, reason: "accept")) }
        #expect(Self.isReading(channel) == false)
        channel.embeddedEventLoop.advanceTime(by: AcceptPauseHandler.pause - .nanoseconds(1))
        #expect(Self.isReading(channel) == false)
        channel.embeddedEventLoop.advanceTime(by: .nanoseconds(1))
        #expect(Self.isReading(channel) == true)
        // A later shortage pauses it again.
        channel.pipeline.fireErrorCaught(IOError(errnoCode: code, reason: "accept"))
        #expect(Self.isReading(channel) == false)
    }

    @Test func `a connection that a client has closed meanwhile pauses nothing`() throws {
        let channel = EmbeddedChannel(handler: AcceptPauseHandler())
        channel.pipeline.fireErrorCaught(IOError(errnoCode: ECONNABORTED, reason: "accept"))
        #expect(Self.isReading(channel) == nil)
    }
}
