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
        if !usedKeys.insert(key).inserted { keysUsedTwice += 1 }
        messages.append(Sent(body: body))
        return messages.count - 1
    }

    mutating func noteOpened(_ number: Int, _ body: [UInt8]) {
        messages[number].openedCount += 1
        if body != messages[number].body { messages[number].isFalsified = true }
    }

    /// Notes that the sender of a message has the confirmation that it was opened.
    mutating func noteReported(_ number: Int) { messages[number].isReported = true }

    /// Adds the figures of a run that exchanged keys, with the pairs of nodes that did so.
    func add(to figures: inout Figures, pairs: Int, disagreeing: Int) {
        figures["sealedSent"] = Double(messages.count)
        figures["sealedReported"] = Double(messages.count { $0.isReported })
        figures["sealedOpened"] = Double(messages.count { $0.openedCount > 0 })
        figures["sealedOpenedTwice"] = Double(messages.count { $0.openedCount > 1 })
        figures["sealedReportedUnopened"] = Double(messages.count { $0.isReported && $0.openedCount == 0 })
        figures["sealedFalsified"] = Double(messages.count { $0.isFalsified })
        figures["sealedWithoutKeys"] = Double(withoutKeys)
        figures["oneTimeKeysUsedTwice"] = Double(keysUsedTwice)
        figures["keyExchanges"] = Double(completions)
        figures["keyExchangesFailed"] = Double(failures)
        figures["keyPairs"] = Double(pairs)
        figures["keyPairsDisagreeing"] = Double(disagreeing)
    }
}
