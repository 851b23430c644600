internal import Concurrency
internal import Testing

@testable internal import Node

@Suite("The phases of a driver") struct LifecycleTests {
    @Test func `a node that drains begins nothing new until it stops`() {
        var lifecycle = Lifecycle()
        #expect(lifecycle.isRunning)
        _ = lifecycle.drain(hasStreams: false)
        #expect(!lifecycle.isRunning)
        #expect(!lifecycle.isStopped)
        lifecycle.stop()
        #expect(!lifecycle.isRunning)
        #expect(lifecycle.isStopped)
    }

    @Test func `a node without streams has nothing to wait for`() {
        var lifecycle = Lifecycle()
        let promise = lifecycle.drain(hasStreams: false)
        #expect(promise == nil)
        #expect(!lifecycle.awaitsLastStream)
    }

    @Test func `all drains end with the last stream`() throws {
        var lifecycle = Lifecycle()
        let first = lifecycle.drain(hasStreams: true)
        let second = lifecycle.drain(hasStreams: true)
        let promise = try #require(first)
        #expect(promise === second)
        #expect(promise.value == nil)
        lifecycle.noteLastStreamEnded()
        #expect(promise.value != nil)
        #expect(!lifecycle.awaitsLastStream)
    }

    @Test func `a stop ends a drain`() throws {
        var lifecycle = Lifecycle()
        let found = lifecycle.drain(hasStreams: true)
        let promise = try #require(found)
        lifecycle.stop()
        #expect(promise.value != nil)
    }

    @Test func `a stopped node does not drain`() {
        var lifecycle = Lifecycle()
        lifecycle.stop()
        let promise = lifecycle.drain(hasStreams: true)
        #expect(promise == nil)
        #expect(lifecycle.isStopped)
    }
}
