internal import Bytes
internal import Identity

@testable internal import OneTimeKeys

/// Two devices that exchange keys, and the messages in flight between them, whose fate a test decides.
struct ExchangePair {
    struct Device {
        let key: Ed25519KeyPair
        var exchange: KeyExchange
        /// Its own pools, by generation.
        var pools: [UInt32: KeyStore] = [:]
        /// The pool of the other device that it stored last.
        var peerKeys: PublicKeyStore?
        var established: [KeyExchange.Established] = []
        var failures: [KeyExchangeFailure] = []
        /// The time of its last wake.
        var wakeAt: Duration?

        var peerId: PeerId { PeerId(publicKey: key.publicKey) }
    }

    struct Flight {
        let target: Int
        let bytes: [UInt8]

        var body: KeyExchangeMessage.Body? { (try? KeyExchangeMessage(bytes))?.body }  // nil: no message
    }

    static let capacity = 2

    var devices: [Device] = []
    var inFlight: [Flight] = []
    /// All that was ever sent.
    private(set) var sent: [Flight] = []
    var isConnected = true
    var now = Duration.zero
    var random: SeededGenerator
    /// Pools are not generated while this is set, but wait.
    var isGenerationSlow = false
    private(set) var waitingGenerations: [(device: Int, suite: OneTimeKeySuite, generation: UInt32)] = []

    /// Two devices with these kinds of keys; the first one has the lower id.
    init(
        seed: UInt64 = 1,
        suites: [[OneTimeKeySuite]] = [[.p256], [.p256]],
        limits: KeyExchange.Limits = KeyExchange.Limits()
    ) {
        random = SeededGenerator(seed: seed)
        let keys = [generatePeerKey(), generatePeerKey()]
            .sorted { PeerId(publicKey: $0.publicKey) < PeerId(publicKey: $1.publicKey) }
        for index in 0..<2 {
            var configuration = KeyExchange.Configuration(
                signer: keys[index].privateKey,
                peer: PeerId(publicKey: keys[1 - index].publicKey),
                secret: SecretBytes(copying: random.bytes(32))
            )
            configuration.suites = suites[index]
            configuration.limits = limits
            devices.append(Device(key: keys[index], exchange: KeyExchange(configuration)))
        }
    }

    var states: [KeyExchangeState] { devices.map(\.exchange.state) }

    /// Whether each device can open the messages that the other one seals to it.
    var agrees: Bool { (0..<2).allSatisfy(canOpen) }

    /// Whether the other device can open the messages that a device seals to it.
    func canOpen(from sender: Int) -> Bool {
        let recipient = devices[1 - sender]
        guard var publicKeys = devices[sender].peerKeys, var keys = recipient.pools[publicKeys.generation],
            let message = try? publicKeys.takeKey().seal([1], to: recipient.peerId)  // nil: it cannot
        else { return false }
        return (try? keys.open(message, for: recipient.peerId)) == [1]  // nil: it cannot
    }

    mutating func feed(_ device: Int, _ input: KeyExchange.Input) {
        var effects: [KeyExchange.Effect] = []
        devices[device].exchange.handle(input, at: NodeTime(monotonic: now, wallSeconds: 0), into: &effects)
        // First, because the answers to effects are fed at once, and may request another wake.
        for case .wake(let time) in effects { devices[device].wakeAt = time }
        if devices[device].exchange.nextWake == nil { devices[device].wakeAt = nil }
        precondition(devices[device].wakeAt == devices[device].exchange.nextWake)
        for effect in effects { apply(effect, of: device) }
    }

    private mutating func apply(_ effect: KeyExchange.Effect, of device: Int) {
        switch effect {
        case .send(let bytes):
            let flight = Flight(target: 1 - device, bytes: bytes)
            sent.append(flight)
            if isConnected { inFlight.append(flight) }
        case .generate(let suite, let generation):
            waitingGenerations.append((device, suite, generation))
            if !isGenerationSlow { finishGenerations() }
        case .save(let pool):
            devices[device].peerKeys = pool
            feed(device, .saved)
        case .established(let established): devices[device].established.append(established)
        case .failed(let failure): devices[device].failures.append(failure)
        case .wake: break
        }
    }

    mutating func finishGenerations() {
        while !waitingGenerations.isEmpty {
            let (device, suite, generation) = waitingGenerations.removeFirst()
            let seed = SecretBytes(copying: random.bytes(32))
            do {
                let (keys, publicKeys) = try KeyStore.generate(
                    suite,
                    generation: generation,
                    capacity: Self.capacity,
                    seed: seed
                )
                devices[device].pools[generation] = keys
                feed(device, .generated(publicKeys))
            } catch {
                feed(device, .localFailure)
            }
        }
    }

    /// Delivers one message.
    mutating func deliver(at place: Int = 0) {
        let flight = inFlight.remove(at: place)
        feed(flight.target, .received(flight.bytes))
    }

    /// Delivers all messages in the order in which they were sent.
    mutating func settle() {
        var count = 0
        while !inFlight.isEmpty, count < 10_000 {
            deliver()
            count += 1
        }
    }

    /// Moves the time to the next wake of a device; false if there is none.
    mutating func wakeNext() -> Bool {
        guard let time = devices.compactMap(\.wakeAt).min() else { return false }
        now = max(now, time)
        for device in 0..<2 where devices[device].wakeAt.map({ $0 <= now }) == true {
            devices[device].wakeAt = nil
            feed(device, .timeReached)
        }
        return true
    }

    /// Restarts a device with its stored state.
    mutating func restart(_ device: Int) {
        let stored = devices[device]
        inFlight.removeAll { $0.target == device }
        waitingGenerations.removeAll { $0.device == device }
        devices[device].wakeAt = nil
        var configuration = stored.exchange.configuration
        configuration.secret = SecretBytes(copying: random.bytes(32))
        configuration.limits = KeyExchange.Limits()
        devices[device].exchange = KeyExchange(
            configuration,
            ownGeneration: stored.pools.keys.max() ?? 0,
            peerKeys: stored.peerKeys,
            established: stored.established.last
        )
    }

    mutating func disconnect() {
        isConnected = false
        inFlight.removeAll()
    }

    mutating func connect() {
        isConnected = true
        for device in 0..<2 { feed(device, .connected) }
    }
}

extension ExchangeId {
    init(generating random: inout SeededGenerator) {
        guard let bytes = Bytes32(random.bytes(Bytes32.byteCount)) else { preconditionFailure("32 bytes were drawn") }
        self.init(bytes)
    }
}
