internal import Identity

/// One process start of a peer, as known from its announcements.
struct HeardBoot: Sendable {
    /// The most sources of one announcement, each of which resolves to further addresses: two nodes share few links.
    private static let maximumSources = 4

    let instance: InstanceId
    /// The counter of the last verified announcement; only later ones are processed.
    private(set) var counter: UInt64
    private(set) var wallSeconds: UInt64
    private(set) var isGoodbye: Bool
    private(set) var signature: Ed25519Signature
    /// The addresses in the last announcement, unresolved.
    private(set) var named: [SocketAddress]
    /// The addresses to which ``named`` resolves here.
    private(set) var addresses: [SocketAddress]
    private var sources: [IPAddress]
    let firstHeard: Duration
    private(set) var lastHeard: Duration
    /// Whether the boot has sent no goodbye and is within its time to live.
    var isLive: Bool

    init(_ announcement: Announcement, addresses: [SocketAddress], from source: SocketAddress, at now: Duration) {
        instance = announcement.instance
        counter = announcement.counter
        wallSeconds = announcement.wallSeconds
        isGoodbye = announcement.isGoodbye
        signature = announcement.signature
        named = announcement.addresses
        self.addresses = addresses
        sources = [source.ip]
        firstHeard = now
        lastHeard = now
        isLive = !announcement.isGoodbye
    }

    /// Applies a later announcement.
    mutating func update(
        _ announcement: Announcement,
        addresses: [SocketAddress],
        from source: SocketAddress,
        at now: Duration
    ) {
        counter = announcement.counter
        wallSeconds = announcement.wallSeconds
        isGoodbye = announcement.isGoodbye
        signature = announcement.signature
        named = announcement.addresses
        self.addresses = addresses
        sources = [source.ip]
        lastHeard = now
        isLive = !announcement.isGoodbye
    }

    /// Whether this is a copy of the last announcement, received from another source.
    func isCopy(_ announcement: Announcement, from source: SocketAddress) -> Bool {
        announcement.counter == counter && announcement.signature == signature
            && sources.count < Self.maximumSources && !sources.contains(source.ip)
    }

    /// Adds the addresses to which the last announcement resolves for another source; returns whether any is new.
    mutating func addCopy(_ meant: [SocketAddress], from source: SocketAddress) -> Bool {
        sources.append(source.ip)
        let new = meant.filter { !addresses.contains($0) }
        addresses += new
        return !new.isEmpty
    }
}

/// A member as known from its announcements in one network.
struct HeardPeer: Sendable {
    /// The most process starts remembered: several at once mean a key used twice, or a restart.
    private static let maximumBoots = 4
    /// The most addresses reported, for all boots together.
    private static let maximumAddresses = 16
    /// The pause between two reports that a key runs twice, a third of the time for which a report counts.
    private static let reportPause = Duration.seconds(300)
    /// New boots of one peer that are answered at once: a member must not make all others talk.
    private static let answerRate = RateLimit(every: .seconds(30), atOnce: 3)

    /// The boots, the most recently heard first.
    private(set) var boots: [HeardBoot] = []
    /// The membership that was verified.
    var token: AccessToken
    /// The time of the last report that the key runs twice.
    private var lastReport: Duration?
    private var answers = TokenBucket()

    init(token: AccessToken) {
        self.token = token
    }

    /// Whether any boot is live.
    var isLive: Bool { boots.contains(where: \.isLive) }

    /// The addresses of the live boots, the most recently heard boot first.
    var addresses: [SocketAddress] {
        var found: [SocketAddress] = []
        for boot in boots where boot.isLive {
            for address in boot.addresses where !found.contains(address) { found.append(address) }
        }
        return Array(found.prefix(Self.maximumAddresses))
    }

    /// The boot of this instance.
    func boot(_ instance: InstanceId) -> HeardBoot? { boots.first { $0.instance == instance } }

    /// Inserts a boot at the front and removes its earlier entry.
    mutating func set(_ boot: HeardBoot) {
        boots.removeAll { $0.instance == boot.instance }
        boots.insert(boot, at: 0)
        if boots.count > Self.maximumBoots { boots.removeLast() }
    }

    /// Whether a new boot is answered.
    mutating func takeAnswer(at now: Duration) -> Bool { answers.take(under: Self.answerRate, at: now) }

    /// Returns whether it is time to report that the key runs twice; the next time is a pause later.
    mutating func takeReport(at now: Duration) -> Bool {
        if let last = lastReport, now - last < Self.reportPause { return false }
        lastReport = now
        return true
    }

    /// Ends all boots.
    mutating func endAll() {
        for index in boots.indices { boots[index].isLive = false }
    }

    /// Ends boots that were silent for longer than `timeToLive` and forgets those silent for longer than `memory`.
    mutating func expire(timeToLive: Duration, memory: Duration, at now: Duration) {
        for index in boots.indices where boots[index].lastHeard + timeToLive <= now { boots[index].isLive = false }
        boots.removeAll { $0.lastHeard + memory <= now }
    }
}
