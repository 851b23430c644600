internal import Bytes
internal import Identity
internal import TestSupport
internal import Testing

@testable internal import OneTimeKeys

@Suite("Exchanges of one-time keys") struct KeyExchangeTests {
    @Test(arguments: OneTimeKeySuite.supported, [0, 1])
    func `two devices exchange their keys`(suite: OneTimeKeySuite, initiator: Int) throws {
        var pair = ExchangePair(suites: [[suite], [suite]])
        pair.feed(initiator, .start)
        pair.settle()
        #expect(pair.states == [.completed, .completed])
        #expect(pair.agrees)
        #expect(pair.devices.allSatisfy { $0.established.count == 1 && $0.established[0].suite == suite })
        let numbers = pair.devices.map(\.exchange.safetyNumber)
        #expect(numbers[0] != nil && numbers[0] == numbers[1])
        #expect(pair.devices.allSatisfy { $0.exchange.nextWake == nil })
    }

    @Test func `the states follow each other`() {
        var pair = ExchangePair()
        #expect(pair.states == [.idle, .idle])
        pair.feed(0, .start)
        #expect(pair.states == [.requestSent, .idle])
        pair.deliver()
        #expect(pair.states == [.requestSent, .offerSent])
        pair.deliver()
        #expect(pair.states == [.ackSent, .offerSent])
        pair.isGenerationSlow = true
        pair.deliver()
        #expect(pair.states == [.ackSent, .commitSent])
        pair.deliver()
        #expect(pair.states == [.commitReceivedWaitingForKeys, .commitSent])
        pair.settle()
        #expect(pair.states == [.commitReceivedWaitingForKeys, .commitSent])
        pair.finishGenerations()
        pair.settle()
        #expect(pair.states == [.completed, .completed])
    }

    @Test func `the better algorithm of both sides is used`() throws {
        try #require(OneTimeKeySuite.xWing.isSupported)
        let cases: [([OneTimeKeySuite], [OneTimeKeySuite], OneTimeKeySuite)] = [
            ([.xWing, .p256], [.xWing, .p256], .xWing),
            ([.xWing, .p256], [.p256], .p256),
            ([.p256], [.xWing, .p256], .p256),
        ]
        for (first, second, suite) in cases {
            var pair = ExchangePair(suites: [first, second])
            pair.feed(0, .start)
            pair.settle()
            #expect(pair.devices.map(\.established.last?.suite) == [suite, suite])
        }
    }

    @Test func `devices without a common algorithm say so`() {
        var pair = ExchangePair(suites: [[.p256], [.xWing]])
        pair.feed(0, .start)
        pair.settle()
        #expect(pair.states == [.failed(.noCommonSuite), .idle])
    }

    @Test func `if both begin at once, one exchange comes of it`() {
        var pair = ExchangePair()
        pair.feed(0, .start)
        pair.feed(1, .start)
        pair.settle()
        #expect(pair.states == [.completed, .completed])
        #expect(pair.agrees)
        #expect(pair.devices.allSatisfy { $0.established.count == 1 && $0.failures.isEmpty })
    }

    @Test func `a completed exchange is renewed, and old pools stay until then`() throws {
        var pair = ExchangePair()
        pair.feed(0, .start)
        pair.settle()
        let (number, old) = (pair.devices[0].exchange.safetyNumber, pair.devices[0].peerKeys)
        pair.now += .seconds(1)
        pair.feed(1, .start)
        #expect(pair.devices[0].peerKeys == old)
        pair.settle()
        #expect(pair.states == [.completed, .completed])
        #expect(pair.agrees)
        #expect(pair.devices.map(\.peerKeys?.generation) == [2, 2])
        #expect(pair.devices[0].exchange.safetyNumber != number)
        #expect(pair.devices[0].exchange.safetyNumber == pair.devices[1].exchange.safetyNumber)
    }

    @Test func `the peer's key stays known during a renewal`() {
        var pair = ExchangePair()
        pair.feed(0, .start)
        pair.settle()
        pair.now += .seconds(1)
        for device in 0..<2 { pair.feed(device, .start) }
        while !pair.inFlight.isEmpty {
            for (device, other) in [(0, 1), (1, 0)] {
                #expect(pair.devices[device].exchange.peerKey == pair.devices[other].key.publicKey)
            }
            pair.deliver()
        }
        #expect(pair.states == [.completed, .completed])
    }

    @Test func `a pool that runs low is refilled without a new handshake`() throws {
        var pair = ExchangePair()
        pair.feed(0, .start)
        pair.settle()
        let number = pair.devices[0].exchange.safetyNumber
        pair.feed(0, .requestRefill)
        pair.settle()
        #expect(pair.devices.map(\.peerKeys?.generation) == [2, 1])
        #expect(pair.agrees)
        #expect(pair.devices[0].exchange.safetyNumber == number)
        #expect(pair.states == [.completed, .completed])
        #expect(pair.devices.map(\.established.last?.peerGeneration) == [2, 1])
    }

    @Test func `a device that was started anew refills with what it stored`() {
        var pair = ExchangePair()
        pair.feed(0, .start)
        pair.settle()
        for index in 0..<2 { pair.restart(index) }
        #expect(pair.states == [.completed, .completed])
        pair.feed(1, .requestRefill)
        pair.settle()
        #expect(pair.devices.map(\.peerKeys?.generation) == [1, 2])
        #expect(pair.agrees)
    }

    @Test func `a refill that a restart interrupted is asked for again`() {
        for count in 0..<6 {
            for device in 0..<2 {
                var pair = ExchangePair()
                pair.feed(0, .start)
                pair.settle()
                pair.feed(0, .requestRefill)
                for _ in 0..<count where !pair.inFlight.isEmpty { pair.deliver() }
                pair.restart(device)
                pair.settle()
                while pair.wakeNext() { pair.settle() }
                pair.now += .seconds(600)
                pair.feed(0, .requestRefill)
                pair.settle()
                while pair.wakeNext() { pair.settle() }
                #expect(pair.states == [.completed, .completed], "\(count) messages, device \(device)")
                #expect(pair.devices[0].peerKeys?.generation ?? 0 > 1, "\(count) messages, device \(device)")
                #expect(pair.agrees)
            }
        }
    }

    @Test func `a renewal that fails leaves the exchange as it was`() {
        for side in 0..<2 {
            var pair = ExchangePair()
            pair.feed(0, .start)
            pair.settle()
            let number = pair.devices[0].exchange.safetyNumber
            pair.feed(side, .start)
            pair.deliver()
            pair.disconnect()
            while pair.wakeNext() {}
            #expect(pair.states == [.failed(.timedOut), .failed(.timedOut)])
            #expect(pair.devices.map(\.exchange.safetyNumber) == [number, number])
            pair.connect()
            pair.feed(side, .requestRefill)
            pair.settle()
            #expect(pair.states[side] == .completed)
            #expect(pair.devices[side].peerKeys?.generation == 2)
            #expect(pair.agrees)
        }
    }

    @Test func `a copy of a request that comes late begins nothing`() throws {
        var pair = ExchangePair()
        pair.feed(0, .start)
        let request = try #require(pair.inFlight.first).bytes
        pair.settle()
        pair.feed(0, .start)
        pair.settle()
        let number = pair.devices[1].exchange.safetyNumber
        pair.feed(1, .received(request))
        #expect(pair.states == [.completed, .completed])
        #expect(pair.devices[1].exchange.safetyNumber == number)
    }

    @Test func `an exchange goes on after a disconnect at any message`() {
        var count = 0
        repeat {
            var pair = ExchangePair()
            pair.feed(0, .start)
            for _ in 0..<count where !pair.inFlight.isEmpty { pair.deliver() }
            let isOver = pair.inFlight.isEmpty
            pair.disconnect()
            pair.now += .seconds(60)
            pair.connect()
            pair.settle()
            // A key share may overtake the commit that was lost, and is sent again.
            while pair.states != [.completed, .completed], pair.wakeNext() { pair.settle() }
            #expect(pair.states == [.completed, .completed], "after \(count) messages")
            #expect(pair.agrees)
            count += 1
            if isOver { break }
        } while count < 50
        #expect(count > 8 && count < 50)
    }

    @Test func `an exchange is given up after five minutes of silence`() {
        var pair = ExchangePair()
        pair.feed(0, .start)
        pair.disconnect()
        var times: [Duration] = []
        while pair.wakeNext() { times.append(pair.now) }
        #expect(pair.states[0] == .failed(.timedOut))
        #expect(times.last == .seconds(300))
        #expect(times.prefix(4) == [.seconds(2), .seconds(6), .seconds(14), .seconds(30)])
        #expect(pair.sent.count == times.count)
    }

    @Test func `a device that cannot store its keys says so`() {
        var pair = ExchangePair()
        pair.isGenerationSlow = true
        pair.feed(0, .start)
        pair.settle()
        pair.feed(0, .localFailure)
        #expect(pair.states[0] == .failed(.localFailure))
        #expect(pair.devices[0].peerKeys == nil)
    }

    @Test func `the safety number has sixty digits, which are read with and without spaces`() throws {
        let one = ExchangeBinding(bytes: [UInt8](repeating: 1, count: 32))
        let first = PeerId(publicKey: generatePeerKey().publicKey)
        let second = PeerId(publicKey: generatePeerKey().publicKey)
        let number = one.safetyNumber(first, second)
        #expect(number == one.safetyNumber(second, first))
        #expect(number.digits.count == 60 && number.groups.count == 12)
        #expect(SafetyNumber(number.description) == number && SafetyNumber(number.digits) == number)
        let other = ExchangeBinding(bytes: [UInt8](repeating: 2, count: 32))
        #expect(other.safetyNumber(first, second) != number)
        #expect(one.safetyNumber(first, first) != number)
        let short = String(number.digits.dropLast())
        for text in ["", short, number.digits + "0", short + "x"] {
            #expect(SafetyNumber(text) == nil)
        }
    }
}
