internal import Bytes
internal import Testing

@testable internal import Identity

@Suite("Channels through a relay") struct ChannelIdTests {
    @Test(arguments: [0, 1, 0x0123_4567_89AB_CD, 1 << 56 - 1] as [UInt64])
    func `a channel's address and its bytes lead back to it`(number: UInt64) throws {
        let channel = ChannelId(number)
        #expect(channel.number == number)
        #expect(ChannelId(address: channel.address) == channel)
        #expect(channel.bytes.count == 7)
        var reader = ByteReader(channel.bytes)
        #expect(try ChannelId(reading: &reader) == channel)
    }

    @Test(arguments: ["[100::1]:4433", "[100:0:0:1::1]:9", "[100::100:0:0:1]:9", "[2001:db8::1]:9", "192.0.2.1:9"])
    func `every other address is the network's`(text: String) throws {
        #expect(ChannelId(address: try SocketAddress(parsing: text)) == nil)
    }

    @Test func `no name of a channel is longer than its seven bytes`() {
        #expect(ChannelId(.max).number == 1 << 56 - 1)
    }
}
