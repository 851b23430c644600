/// The handshakes of accepted connections that are under way, and the gate that admits new ones.
struct Handshakes {
    var gate: AdmissionGate
    private var cores: [AdmissionGate.Handshake: ConnectionCore] = [:]

    init(limits: QUICLimits) {
        gate = AdmissionGate(limits: limits)
    }

    /// Returns the connection of a handshake; nil when the handshake has ended.
    func connection(of handshake: AdmissionGate.Handshake) -> ConnectionCore? { cores[handshake] }

    /// Begins the handshake of a connection that the gate accepted.
    mutating func begin(_ handshake: AdmissionGate.Handshake, of core: ConnectionCore) {
        core.handshake = handshake
        cores[handshake] = core
    }

    /// Ends the handshake of a connection, and frees its place.
    mutating func end(of core: ConnectionCore, hasCompleted: Bool) {
        guard let handshake = core.handshake, cores.removeValue(forKey: handshake) != nil else { return }
        gate.ended(handshake, hasCompleted: hasCompleted)
    }
}
