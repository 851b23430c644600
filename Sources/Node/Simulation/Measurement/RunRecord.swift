internal import Identity
internal import Kademlia
internal import Mailbox
internal import NodeCore
internal import PubSub

/// The record of a run: a digest of everything that happened, in order, and the measurements.
struct RunRecord {
    private(set) var digest = RunDigest()
    var traffic = Traffic()
    private(set) var admissions = AdmissionProbe()
    var revocations = RevocationProbe()
    private(set) var discovery = DiscoveryProbe()
    var requests = RequestProbe()
    var tables = TableProbe()
    var events = EventProbe()
    var mails = MailProbe()
    var sealed = SealedProbe()

    // MARK: Events

    /// Records an event at a node; `detail` distinguishes it from others of its kind.
    mutating func note(_ kind: Event.Kind, at now: Int64, of node: Int, _ detail: UInt64) {
        digest.mix(UInt64(bitPattern: now))
        digest.mix(UInt64(kind.rawValue) << 56 | UInt64(node))
        digest.mix(detail)
    }

    /// Notes a dial of a peer at a number of addresses.
    mutating func noteDial(of peerNumber: UInt32, addressCount: Int) {
        digest.mix(UInt64(peerNumber) << 16 | UInt64(addressCount))
    }

    /// Notes the arrival of a frame.
    mutating func noteFrame(_ bytes: [UInt8], at now: Int64, of node: Int) {
        note(.frame, at: now, of: node, UInt64(bytes.count) << 8 | UInt64(bytes.first ?? 0))
        if Frame.hasNoSignature(kind: bytes.first ?? 0) { digest.mix(bytes) }
        events.noteFrame(bytes)
    }

    /// Notes that a node stores, shows or deletes a mail.
    mutating func noteMail(_ id: MailId, at now: Int64, of node: Int) {
        digest.mix(UInt64(bitPattern: now))
        digest.mix(0x3A11 << 32 | UInt64(node))
        digest.mix(id.bytes)
    }

    // MARK: Reports of cores

    /// Notes that a node lost a peer.
    mutating func noteLoss(of peer: PeerId) { digest.mix(0x1EF7 << 32 | peer.words.first >> 32) }

    /// Notes a refusal of a peer, by either side.
    mutating func noteRefusal(of peer: PeerId) {
        digest.mix(0x4EF0 << 32 | peer.words.first >> 32)
        admissions.refusals += 1
    }

    /// Notes an admission of `other` at a node; `delay` is the time since the node's start if it is the first one.
    mutating func noteAdmission(of other: Int?, at node: Int, after delay: Int64?) {
        digest.mix(0xAD3 << 32 | UInt64(node) << 16 ^ UInt64(truncatingIfNeeded: other ?? -1))
        if let delay { admissions.samples.add(delay) }
    }

    /// Notes that a node discovers another one, a time after both were started.
    mutating func noteDiscovery(of other: Int, by node: Int, after delay: Int64) {
        digest.mix(0xD15C << 48 | UInt64(node) << 24 | UInt64(other))
        if discovery.isFirst(node, other) { discovery.samples.add(delay) }
    }

    /// Notes that the node of a number received a revocation.
    mutating func noteRevocation(of victim: PeerId, at now: Int64, by number: Int, _ node: SimulatedNode) {
        digest.mix(0x4E40 << 32 | UInt64(number))
        guard let time = revocations.learn(victim, by: number), node.peerId != victim else { return }
        if node.isCutOff {
            // A node that learns of it from a neighbour before its own first contact waited for nothing.
            revocations.afterContact.add(now - (node.firstContact ?? now))
        } else {
            revocations.spread.add(now - time)
        }
    }

    /// Notes the end of a request.
    mutating func noteEffort(_ effort: Kademlia.Effort) {
        digest.mix(UInt64(effort.hops) << 32 | UInt64(effort.queries) << 16 | UInt64(effort.answers))
    }

    /// Notes events that a node gave up.
    mutating func noteGap(in stream: StreamId, count: UInt64) {
        digest.mix(stream.publisher.words.first)
        events.gaps += Int(clamping: count)
    }

    /// Notes events that reached a node, their publisher included.
    mutating func noteBatch(_ batch: EventBatch, _ hops: UInt8, at now: Int64, of node: Int, in nodes: Population) {
        digest.mix(0xE7E7 << 32 | batch.first)
        if nodes.number(of: batch.stream.publisher) != node {
            events.noteDelivery(batch, hops, at: now)
        } else if events.isCounting {
            events.note(batch, at: now, audience: nodes.admittedCount - 1)
        }
    }

    // MARK: Figures

    /// Adds the measurements, and those that the nodes themselves show.
    func add(to figures: inout Figures, of nodes: Population) {
        figures["runningNodes"] = Double(nodes.count { $0.isRunning })
        figures["unadmittedNodes"] = Double(nodes.count { $0.isRunning && !$0.isAdmitted })
        figures["refusals"] = Double(admissions.refusals)
        figures.add("admission", admissions.samples)
        requests.add(to: &figures)
        tables.add(to: &figures)
        events.add(to: &figures)
        guard !revocations.isEmpty else { return }
        figures.add("revocationKnown", revocations.spread)
        figures.add("revocationKnownAfterContact", revocations.afterContact)
        let gaps = revocations.gaps(in: nodes)
        figures["revocationUnknownNodes"] = Double(gaps.ignorant)
        figures["revokedStillAdmitted"] = Double(gaps.admitting)
    }
}

extension Frame {
    /// Whether frames of a kind have equal bytes in every run, so that they may enter a digest.
    fileprivate static func hasNoSignature(kind: UInt8) -> Bool { [3, 6, 7, 16, 17].contains(kind) }
}
