/// The plan for protecting a key storage with a Secure Enclave, from the configuration and the device.
///
/// A value, so that every case can be tried on a machine that has no enclave.
package enum KeyProtectionPlan: Hashable, Sendable {
    /// Keys are stored as they are: the configuration does not ask for an enclave, or this device has and had none.
    case plain
    /// Keys are wrapped by the enclave's key that is stored already.
    case wrapped
    /// A key of the enclave is created and stored first; existing keys are wrapped when they are stored again.
    case makeWrappingKey
    /// Reading and storing are refused: the keys are wrapped, and the enclave that unwraps them is missing. Otherwise a new
    /// identity would be created silently.
    case refused

    /// - Parameters:
    ///   - isRequired: Whether the configuration asks for the enclave.
    ///   - hasEnclave: Whether this device has one.
    ///   - hasWrappingKey: Whether an enclave's key is stored here, by which other keys are wrapped.
    package init(isRequired: Bool, hasEnclave: Bool, hasWrappingKey: Bool) {
        self =
            switch (isRequired, hasEnclave, hasWrappingKey) {
            // Wrapped keys stay readable when the configuration no longer asks for the enclave.
            case (_, true, true): .wrapped
            case (_, false, true): .refused
            case (true, true, false): .makeWrappingKey
            case (true, false, false), (false, _, false): .plain
            }
    }
}
