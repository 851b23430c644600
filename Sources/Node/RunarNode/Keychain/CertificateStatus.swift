/// The status of a device's certificate from the authority of its person.
public enum CertificateStatus: String, Hashable, Sendable, CaseIterable, Codable {
    /// It has no certificate and has not asked for one.
    case none
    /// It has asked, and no answer was installed.
    case pending
    /// It has a certificate for its key that is in force.
    case valid
    /// Its certificate has expired, is for an earlier key, or was issued by another authority than its root key.
    case invalid
}
