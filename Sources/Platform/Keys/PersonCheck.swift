/// The authentication of the user that the Keychain requires before it returns a key, from the requested guard and the
/// presence of a sensor.
///
/// It is a value, so that every case can be tested without a Keychain. Its number is stored with the key.
enum PersonCheck: UInt8, CaseIterable, Sendable {
    /// No authentication.
    case none = 0
    /// Biometrics.
    case biometrics = 1
    /// Biometrics, or the password instead.
    case biometricsOrPassword = 2
    /// No authentication although biometrics were requested, because no sensor was available. Becomes `biometrics` with one.
    case missing = 3

    init(_ accessControl: AccessControl, hasSensor: Bool) {
        self =
            switch (accessControl.requireBiometric, accessControl.acceptsPassword) {
            case (false, _): .none
            case (true, true): .biometricsOrPassword
            case (true, false): hasSensor ? .biometrics : .missing
            }
    }

    /// Whether a finger or a face was requested.
    var isRequired: Bool { self != .none }
}
