use super::*;

#[test]
fn what_only_a_search_can_prove_is_told_from_what_can_be_quoted() {
    for text in [
        "The report does not mention prices",
        "Doesn't use jargon",
        "No TODO is left",
        "No TODO and no FIXME are left",
        "No hardcoded secrets",
        "Prices are not mentioned",
        "The output is free of placeholders",
        "Neither `foo` nor `bar` is used",
        "report.md mentions no prices",
        "Placeholders are absent",
        "Keine Platzhalter",
        "Der Bericht enthält keine Preise",
        "Preise werden nicht erwähnt",
        "Le rapport ne mentionne pas les prix",
        "El informe no contiene precios",
        "O relatório não menciona preços",
        "Отчёт не содержит цен",
        "不包含占位符",
        "価格を含まない",
        "자리 표시자가 없다",
        "bad.txt不包含价格",
        "Nothing in bad.txt says TODO",
        "Without any TODO",
        "TODO markers were left out",
        "Es gibt kein TODO mehr in bad.txt",
        "Keine Preise werden genannt",
        "bad.txt ist frei von Platzhaltern",
        "Il n'y a pas de prix dans bad.txt",
        "The report does not say that prices rise",
        "The report that was written has no prices",
    ] {
        assert_eq!(Absence::of(text), Absence::Whole, "{text}");
    }
    for text in [
        "Uses tabs instead of spaces",
        "The summary has only three lines",
        "The old file was removed",
        "Written without passive voice",
        "The script does not crash on empty input",
        "The file is not empty",
        "Nothing is missing",
        "The report does not omit the total",
        "Explains the cause and does not mention prices",
        "Uses no more than three files",
        "Does not use `eval` outside of tests",
        "Nicht nur die Summe wird genannt",
        "Wird ohne Tabelle geschrieben",
        "No error occurred",
        "Without passive voice",
        "All TODO markers have been removed from bad.txt",
    ] {
        assert_eq!(Absence::of(text), Absence::Part, "{text}");
    }
    for text in [
        "The report names the total",
        "Notes are in a table",
        "The node is annotated",
        // What is wanted is that it is said.
        "The answer says that nothing was found",
        "The answer states there is no data for March",
        "Tells the user that no refund is possible",
        "The script should report that no file was found",
        "Says 'no refunds'",
        "Adds `remove_item` to cart.py",
    ] {
        assert_eq!(Absence::of(text), Absence::None, "{text}");
    }
}

#[test]
fn a_search_must_be_about_what_the_expectation_names() {
    for (text, searched, covers) in [
        ("The report does not mention prices", "price", true),
        ("The report does not mention prices", "/pric(e|ing)/", true),
        ("The report does not mention prices", r"/^\s*prices\b/", true),
        ("The report does not mention prices", "xyzzy", false),
        ("The report does not mention prices", "report", false),
        ("Prices are not mentioned", "PRICE", true),
        ("No TODO is left", "todo:", true),
        ("No logs are left", "*.log", true),
        ("Der Bericht enthält keine Preise", "Preis", true),
        ("Preise werden nicht erwähnt", "Preis", true),
        ("不包含占位符", "占位符", true),
        ("不包含占位符", "价格", false),
        ("There is none left", "anything", true),
        ("No emojis are used", r"/[\x{1F300}-\x{1FAFF}]/", true),
        ("Keine Telefonnummern werden genannt", r"/\d{3}-\d{4}/", true),
        ("No TODO is left", "/[xyz]{3}/", false),
        ("Uses tabs instead of spaces", "    spaces", true),
    ] {
        let object = Object::of(text, Absence::of(text));
        assert_eq!(object.is_covered_by(searched), covers, "{text}: {searched}");
    }
}

#[test]
fn what_is_named_is_known_and_the_place_is_not() {
    for (text, named) in [
        ("No TODO is left", &["TODO"][..]),
        ("The script does not use `eval` in `run.sh`", &["eval"]),
        ("Neither 'foo' nor \"bar baz\" is used", &["foo", "bar baz"]),
        ("report.md mentions no prices", &[]),
        ("`debug.log` is absent", &["debug.log"]),
        ("The code has no os.system() calls", &["os.system"]),
        ("There is no old_name left", &["old_name"]),
        ("Doesn't use jargon", &[]),
        ("All TODO markers have been removed from bad.txt", &["TODO"]),
        ("bad.txt has a header and no TODO", &["TODO"]),
        ("The report has a header but does not contain TODO", &["TODO"]),
        ("bad.txt hat eine Kopfzeile und kein TODO", &["TODO"]),
        ("bad.txt uses euros and not the word TODO", &["TODO"]),
        ("A file without any TODO", &["TODO"]),
        ("Does not mention ACME", &["ACME"]),
        // What is named is something else than what is absent.
        ("The report contains no API keys", &[]),
        ("Uses `let` instead of `var`", &[]),
        ("The script does not crash on `--help`", &[]),
        ("The command works without `--force`", &[]),
        ("The old `old.py` was removed", &[]),
        ("Runs without `--x` and prints `done`", &[]),
        ("Does not use `eval` outside of tests", &[]),
    ] {
        let object = Object::of(text, Absence::of(text));
        assert_eq!(object.named, named, "{text}");
    }
}

#[test]
fn a_text_that_can_only_be_a_pattern_is_one() {
    for (text, of, matches) in [
        ("/^todo/", "a\nTODO: b", true),
        ("/todo$/i", "a TODO\r\nb", true),
        (r"\btodo\b", "a TODO", true),
        ("foo|bar", "bar", true),
        ("*.log", "- debug.log (3 bytes)", true),
        ("/^todo/", "no TODO", false),
    ] {
        assert_eq!(pattern_of(text).unwrap().unwrap().is_match(of), matches, "{text}");
    }
    for text in ["TODO", "/etc/passwd", "a.b()", "C:\\new", "2 * 3", "**bold**", "/", "//"] {
        assert!(pattern_of(text).is_none(), "{text}");
    }
    assert!(pattern_of("/(unclosed/").unwrap().is_err());
}

proptest::proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "\\PC{0,60}", searched in "\\PC{0,20}") {
        let object = Object::of(&text, Absence::of(&text));
        let _ = object.is_covered_by(&searched);
        let _ = Object::is_searched(&text, &searched);
    }
}
