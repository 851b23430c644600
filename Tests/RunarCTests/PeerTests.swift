internal import Circle
internal import Foundation
internal import RunarNode
internal import SealedMessages
internal import TestSupport
internal import Testing

/// A node in another language, and one in Swift, over the network of this machine.
@Suite("Nodes in C and Python", .timeLimit(.minutes(15))) struct PeerTests {
    enum Language: String, CaseIterable, Sendable {
        case c
        case python

        func start() throws -> ChildProcess {
            switch self {
            case .c: try ChildProcess("CProbe", arguments: ["peer"], takesLines: true)
            case .python: try ChildProcess(script: "runar_peer.py", arguments: [], takesLines: true)
            }
        }
    }

    private struct Wrong: Error, CustomStringConvertible {
        let description: String
    }

    /// The other program, which receives one command after the other.
    private final class Peer: Sendable {
        private let process: ChildProcess

        init(_ language: Language) throws {
            process = try language.start()
        }

        /// Returns its next line that begins with this word, without the word.
        func next(_ word: String) async throws -> [String] {
            try await aside { [process] in
                var said: [String] = []
                while let line = process.nextLine() {
                    let words = line.split(separator: " ").map(String.init)
                    if words.first == word { return Array(words.dropFirst()) }
                    said.append(line)
                }
                throw Wrong(description: "it ended without \(word): \(said)")
            }
        }

        /// Returns its next answer to a request.
        func answer() throws -> [String] {
            while let line = process.nextLine() {
                let words = line.split(separator: " ").map(String.init)
                if ["answer", "failed"].contains(words.first) { return words }
            }
            throw Wrong(description: "it ended without an answer")
        }

        func tell(_ line: String) throws { try process.write(line) }

        func quit() async throws -> Int32 {
            try process.write("quit")
            return try await aside { [process] in process.waitUntilExit() }
        }
    }

    /// A network of this process and of the other one, connected.
    private func together(
        _ language: Language,
        _ body: (RunarNode, Peer, NetworkId) async throws -> Void
    ) async throws {
        let node = try RunarNode(config: .createTestConfig())
        try await node.start()
        let network = try node.createNetwork(name: "Home")
        let peer = try Peer(language)
        let ready = try await peer.next("ready")
        let peerId = try #require(PeerId(ready[0]))
        let token = try node.issueToken(for: peerId, in: network.networkId, expiration: nil)
        let events = node.eventStream
        try peer.tell("join \(token.qrString)")
        #expect(try await peer.next("joined") == [network.networkId.base64Encoded])
        try peer.tell(
            "connect \(node.peerId.base64Encoded) \(network.networkId.base64Encoded) 127.0.0.1:\(node.listeningPort)"
        )
        #expect(try await peer.next("connected") == [node.peerId.base64Encoded])
        // This side learns of it after the other one.
        if !node.connectedPeers().contains(peerId) {
            for await event in events where event == .peerJoined(peerId, network.networkId) { break }
        }
        try await body(node, peer, network.networkId)
        #expect(try await peer.quit() == 0)
        await node.stop()
    }

    /// Asks until the other device's services are known here.
    private func ask<Value: Codable & Sendable>(_ node: RunarNode, _ path: String, _ value: Value) async throws -> Value
    {
        while true {
            do {
                return try await node.request(path, payload: value)
            } catch let error as RunarError where error.kind == .noService {
                try Task.checkCancellation()
                await Task.yield()
            }
        }
    }

    @Test(arguments: Language.allCases)
    func `its service is asked from Swift`(_ language: Language) async throws {
        try await together(language) { node, _, network in
            let home = network.base64Encoded
            let sent = ["a": [1, 2]]
            let answer = try await ask(node, "\(home):echo/back", sent)
            #expect(answer == sent)
            let error = await #expect(throws: RunarError.self) { try await ask(node, "\(home):echo/fail", 1) }
            #expect(error?.code == 10_042)
            #expect(error?.message == "it cannot be")
            #expect(error?.context == "echo/fail")
            let missing = await #expect(throws: RunarError.self) { try await ask(node, "\(home):echo/none", 1) }
            #expect(missing?.kind == .noAction)
        }
    }

    @Test(arguments: Language.allCases)
    func `it asks a service in Swift`(_ language: Language) async throws {
        try await together(language) { node, peer, network in
            let service = RunarService(name: "Math", path: "math", version: "1", description: "Sums")
            service.networkId = network.base64Encoded
            service.registerAction("add") { (numbers: [Int]?) async throws -> Int in
                guard let numbers else { throw RunarError.failure(.badPayload, message: "nothing to add") }
                return numbers.reduce(0, +)
            }
            try await node.addService(service)
            while true {
                try Task.checkCancellation()
                try peer.tell("ask \(network.base64Encoded):math/add [1,2,39]")
                let answer = try await aside { try peer.answer() }
                if answer == ["failed", "4001"] { continue }
                #expect(answer == ["answer", "42"])
                break
            }
            try peer.tell("ask \(network.base64Encoded):math/add")
            #expect(try await peer.next("failed") == ["4009"])
        }
    }

    @Test(arguments: Language.allCases)
    func `events pass both ways`(_ language: Language) async throws {
        try await together(language) { node, peer, network in
            let (events, continuation) = AsyncStream.makeStream(of: RunarEvent.self)
            let subscription = try node.subscribe("\(network.base64Encoded):news/*") { continuation.yield($0) }
            try peer.tell("publish \(network.base64Encoded):news/weather fine")
            var iterator = events.makeAsyncIterator()
            let event = try #require(await iterator.next())
            #expect(event.topic.path == "news/weather" && event.data == Data("fine".utf8))
            #expect(event.publisher != node.peerId && event.networkId == network)
            try await node.publishRaw("\(network.base64Encoded):news/sport/late", data: Data("lost".utf8))
            #expect(try await peer.next("event") == ["news/weather", "fine"])
            #expect(try await peer.next("event") == ["news/sport/late", "lost"])
            subscription.cancel()
        }
    }

    @Test(arguments: Language.allCases)
    func `it hears what was published before it subscribed`(_ language: Language) async throws {
        try await together(language) { node, peer, network in
            let home = network.base64Encoded
            for number in 1...2 { try await node.publishRaw("\(home):past/\(number)", data: Data("old".utf8)) }
            try peer.tell("hear \(home):past/*")
            #expect(try await peer.next("event") == ["past/1", "old"])
            #expect(try await peer.next("event") == ["past/2", "old"])
            try await node.publishRaw("\(home):past/3", data: Data("new".utf8))
            #expect(try await peer.next("event") == ["past/3", "new"])
        }
    }

    @Test func `Python exchanges one-time keys with Swift, and each opens what the other sealed`() async throws {
        try await together(.python) { node, peer, _ in
            let keys = try KeyStoreManager(node: node)
            let other = try #require(node.connectedPeers().first)
            let own = node.peerId.base64Encoded
            try peer.tell("exchange \(own)")
            let digits = try await peer.next("exchanged")
            #expect(keys.relationship(with: other)?.safetyNumber?.description == digits.joined(separator: " "))
            try peer.tell("verify \(own) \(digits.joined(separator: " "))")
            #expect(try await peer.next("verified") == ["True"])

            try peer.tell("seal \(own) hello")
            let sealed = try SealedMessage(Hex.decode(await peer.next("sealed")[0]))
            #expect(try await keys.open(sealed, from: other) == Array("hello".utf8))
            let answer = try await keys.seal(Array("welcome".utf8), to: other)
            try peer.tell("open \(own) \(Hex.encode(answer.bytes))")
            #expect(try await peer.next("opened") == ["welcome"])
            try peer.tell("open \(own) \(Hex.encode(answer.bytes))")
            #expect(try await peer.next("failed") == ["\(RunarErrorCode.oneTimeKeyUsed.rawValue)"])
            try peer.tell("forget \(own)")
            #expect(try await peer.next("forgotten") == [])
            try peer.tell("seal \(own) hello")
            #expect(try await peer.next("failed") == ["\(RunarErrorCode.noOneTimeKeys.rawValue)"])
        }
    }

    /// Waits for an event after which the circle satisfies a condition; returns at once if it does now.
    private func wait(_ circle: CircleManager, for condition: (CircleManager) -> Bool) async {
        let events = circle.events
        if condition(circle) { return }
        for await _ in events where condition(circle) { return }
    }

    @Test(arguments: Language.allCases, [false, true])
    func `its person and one in Swift trust each other and talk`(_ language: Language, peerInvites: Bool) async throws {
        try await together(language) { node, peer, _ in
            let circle = try CircleManager(node: node, keys: KeyStoreManager(node: node))
            try await circle.setProfile(name: "Ada")
            let ada = try #require(circle.card).publicID
            try peer.tell("profile Ben")
            let id = try await peer.next("profile")
            let ben = try PublicID(text: #require(id.first))
            let trust = { (circle: CircleManager) in circle.people.first { $0.id == ben }?.trust }
            if peerInvites {
                try peer.tell("invite \(node.peerId.base64Encoded)")
                await wait(circle) { trust($0) == .requested }
                try await circle.accept(ben)
            } else {
                let device = try #require(node.connectedPeers().first)
                try await circle.invite(device)
                #expect(try await peer.next("trust") == [ada.text, "requested"])
                try peer.tell("accept \(ada.text)")
                await wait(circle) { trust($0) == .trusted }
            }
            #expect(try await peer.next("trust") == [ada.text, "trusted"])

            let said = try await circle.say("hello", to: ben).publicID
            #expect(try await peer.next("thought") == [ada.text, said.text])
            try peer.tell("read \(said.text)")
            #expect(try await peer.next("read") == ["hello"])
            try peer.tell("tell \(ada.text) good day")
            let told = try await peer.next("told")
            let answer = try PublicID(text: #require(told.first))
            await wait(circle) { (try? $0.thought(answer)) != nil }  // nil: not yet received
            #expect(try circle.thought(answer).model.text == "good day")
            try peer.tell("opened \(said.text)")
            #expect(try await peer.next("noted") == [])
            await wait(circle) { (try? $0.thought(said))?.state == .opened }  // nil: not yet

            try peer.tell("revoke \(ada.text)")
            #expect(try await peer.next("trust") == [ada.text, "revoked"])
            try peer.tell("tell \(ada.text) hello")
            #expect(try await peer.next("failed") == ["\(RunarErrorCode.notTrusted.rawValue)"])
        }
    }

    @Test func `Python seals files, and opens them`() async throws {
        let status = try await aside { try ChildProcess(script: "seal_file.py", arguments: []).waitUntilExit() }
        #expect(status == 0)
    }

    @Test func `Python chooses what opens its keys`() async throws {
        let status = try await aside { try ChildProcess(script: "keep_keys.py", arguments: []).waitUntilExit() }
        #expect(status == 0)
    }

    @Test func `the examples run`() async throws {
        let (status, lines) = try await aside {
            let process = try ChildProcess(script: "../../Examples/python/hello.py", arguments: [])
            var lines: [String] = []
            while let line = process.nextLine() { lines.append(line) }
            return (process.waitUntilExit(), lines)
        }
        #expect(status == 0)
        #expect(
            lines == [
                "math/add says 6", "math/divide/4 says 2.5",
                "math/divide/0 says ZeroDivisionError: float division by zero (4006)",
                "news/today says {'weather': 'fine'}",
            ]
        )
    }
}
