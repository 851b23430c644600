internal import Foundation
internal import Identity
internal import Platform

/// Announces a name in the multicast groups several times a second and prints the announcements that it receives, until it
/// is killed.
///
/// `LanProbe <name> <port>` claims to listen on every address at `<port>`; with a third argument `silent` it only receives.
/// It prints `joined <interfaces>` and `addresses <addresses>` whenever these change, and `heard <name> <number> <source>
/// <time>` for each datagram of others, in seconds since 1970.
@main struct LanProbe {
    private static let pause = Duration.milliseconds(100)

    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count >= 3, let port = UInt16(arguments[2]) else { exit(64) }
        let name = arguments[1]
        let everywhere = [SocketAddress(.v4(0), port: port), SocketAddress(.v6(high: 0, low: 0, scope: 0), port: port)]
        let socket = try MulticastSocket.open(.init(groups: .standard, bound: everywhere))
        let isSilent = arguments.dropFirst(3).first == "silent"
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await addresses in socket.localAddresses {
                    try say("joined \(socket.interfaceNames.joined(separator: " "))")
                    try say("addresses \(addresses.map(\.description).joined(separator: " "))")
                }
            }
            group.addTask {
                for await datagram in socket.datagrams {
                    let text = String(decoding: datagram.bytes, as: UTF8.self)
                    if text.hasPrefix("\(name) ") { continue }
                    try say("heard \(text) \(datagram.source) \(Date.now.timeIntervalSince1970)")
                }
            }
            group.addTask {
                var number = 0
                while !isSilent {
                    number += 1
                    socket.send(Array("\(name) \(number)".utf8))
                    try await Task.sleep(for: pause)
                }
            }
            try await group.waitForAll()
        }
    }

    private static func say(_ line: String) throws {
        try FileHandle.standardOutput.write(contentsOf: Data("\(line)\n".utf8))
    }
}
