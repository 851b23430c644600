internal import OneTimeKeys

/// The sealed messages that a scenario sends, and the exchanges of keys.
struct SealedProbe {
    private struct Sent {
        let body: [UInt8]
        var openedCount = 0
        var isReported = false
        var isFalsified = false
    }

    private var messages: [Sent] = []
    /// Looked up, never iterated.
    private var usedKeys: Set<OneTimeKeyName> = []
    private var keysUsedTwice = 0
    /// The messages that were not sealed, because no key of the peer was left.
    var withoutKeys = 0
    /// The exchanges and refills that completed at a node.
    var completions = 0
    /// The exchanges that failed at a node.
    var failures = 0

    /// Notes a message that was sealed, and returns its number.
    mutating func begin(_ body: [UInt8], _ key: OneTimeKeyName) -> Int {
        if !self.usedKeys.insert(key).inserted { self.keysUsedTwice += 1 }
        self.messages.append(Sent(body: body))
        return self.messages.count - 1
    }

    mutating func noteOpened(_ number: Int, _ body: [UInt8]) {
        self.messages[number].openedCount += 1
        if body != self.messages[number].body { self.messages[number].isFalsified = true }
    }

    /// Notes that the sender of a message has the confirmation that it was opened.
    mutating func noteReported(_ number: Int) { self.messages[number].isReported = true }

    /// Adds the figures of a run that exchanged keys, with the pairs of nodes that did so.
    func add(to figures: inout Figures, pairs: Int, disagreeing: Int) {
        figures["sealedSent"] = Double(self.messages.count)
        figures["sealedReported"] = Double(self.messages.count { $0.isReported })
        figures["sealedOpened"] = Double(self.messages.count { $0.openedCount > 0 })
        figures["sealedOpenedTwice"] = Double(self.messages.count { $0.openedCount > 1 })
        figures["sealedReportedUnopened"] = Double(self.messages.count { $0.isReported && $0.openedCount == 0 })
        figures["sealedFalsified"] = Double(self.messages.count { $0.isFalsified })
        figures["sealedWithoutKeys"] = Double(self.withoutKeys)
        figures["oneTimeKeysUsedTwice"] = Double(self.keysUsedTwice)
        figures["keyExchanges"] = Double(self.completions)
        figures["keyExchangesFailed"] = Double(self.failures)
        figures["keyPairs"] = Double(pairs)
        figures["keyPairsDisagreeing"] = Double(disagreeing)
    }
}
