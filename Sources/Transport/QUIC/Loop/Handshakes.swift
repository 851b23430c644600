/// The handshakes of accepted connections that are under way, and the gate that admits new ones.
struct Handshakes {
    var gate: AdmissionGate
    private var cores: [AdmissionGate.Handshake: ConnectionCore] = [:]

    init(limits: QUICLimits) {
        gate = AdmissionGate(limits: limits)
    }

    /// Returns the connection that a handshake is for; nil when the handshake is over.
    func connection(of handshake: AdmissionGate.Handshake) -> ConnectionCore? { cores[handshake] }

    /// Begins the handshake of a connection for which the gate gave a place.
    mutating func begin(_ handshake: AdmissionGate.Handshake, of core: ConnectionCore) {
        core.handshake = handshake
        cores[handshake] = core
    }

    /// Gives back the place of a handshake that is over.
    mutating func end(of core: ConnectionCore, hasCompleted: Bool) {
        guard let handshake = core.handshake, cores.removeValue(forKey: handshake) != nil else { return }
        gate.ended(handshake, hasCompleted: hasCompleted)
    }
}
