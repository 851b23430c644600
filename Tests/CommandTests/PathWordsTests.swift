internal import Identity
internal import Testing
internal import Traversal

@testable import Node
@testable internal import NodeModel
@testable internal import NodeService
@testable internal import runar

@Suite("The words of a path history") struct PathWordsTests {
    private func step(_ event: PathHistory.Event) -> PeerFacts.Step {
        PeerFacts.Step(PathHistory.Entry(time: NodeTime(monotonic: .zero, wallSeconds: 1), event: event))
    }

    @Test func `the address that stands for a channel is shown as the relay`() {
        let address = ChannelId(7).address
        let events: [PathHistory.Event] = [
            .dialled(address), .reached(address), .notReached(address, reason: "silent"),
            .traversal(.dialled(address)), .traversal(.connected(address, over: nil)),
        ]
        for event in events {
            let step = step(event)
            #expect(step.text.contains("over the relay") && !step.text.contains("100::"), "\(step.text)")
            #expect(step.address == nil)
        }
    }

    @Test func `any other address is shown as it is`() throws {
        let step = step(.reached(try SocketAddress(parsing: "192.0.2.1:4433")))
        #expect(step.text == "answered at 192.0.2.1:4433")
        #expect(step.address == "192.0.2.1:4433")
    }
}
