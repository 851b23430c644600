/// The reason why a device refuses a request, with its number in the answer.
///
/// The numbers are negative, as wireguard-go sends them and `wg` accepts them.
enum UAPIRefusal: Int32, Error {
    /// A value or key that the protocol does not have (EINVAL).
    case invalid = -22
    /// The process may not set the mark (EPERM).
    case notPermitted = -1
    /// A line that is no `key=value`, or a request beyond the limits (EPROTO).
    case protocolViolation = -71
    /// The port could not be bound (EADDRINUSE).
    case portInUse = -98
    /// The device has no room for another peer or prefix (ENOSPC).
    case full = -28
}
