/// The check of a person that the Keychain makes before it returns a key, from the requested guard and the presence of
/// a sensor.
///
/// A value, so that every case can be tried on a machine that has no Keychain. Its number is stored beside the key.
enum PersonCheck: UInt8, CaseIterable, Sendable {
    /// Nothing.
    case none = 0
    /// A finger or a face.
    case biometrics = 1
    /// A finger or a face, or the password in their place.
    case biometricsOrPassword = 2
    /// Nothing, although a finger or a face was requested: no sensor was there. Becomes `biometrics` where one is.
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
