"""What counts as claiming more than the report shows, in five languages, and what does not."""

import pytest

from planloop import Plan, PlanReport, PlanStep
from planloop.state import build_report, no_usage, overclaim


def report_of(*steps: str, sub: Plan | None = None) -> PlanReport:
    """A report of steps that are `verified`, `completed`, `blocked` or `not_started`."""
    made = [
        PlanStep(
            id=f"s{n}",
            name=f"step {n}",
            status="completed" if kind == "verified" else kind,  # type: ignore[arg-type]
            verified=kind == "verified",
            sub_plan=sub if n == 1 else None,
        )
        for n, kind in enumerate(steps, 1)
    ]
    return build_report(Plan(id="p", steps=made), usage=no_usage())


PARTIAL = report_of("verified", "blocked", "verified")
UNVERIFIED = report_of("verified", "completed", "completed")
COMPLETED = report_of("verified", "verified", "verified")

DONE = """
All steps completed successfully!
All steps were completed.
All of the steps have been completed.
All the planned steps are done.
All 3 steps were completed as requested.
All three steps are now complete.
Every step was successfully completed.
Each of the tasks has been finished.
Both steps are complete.
Everything is done.
Everything was finished on time.
Everything you asked for has been done.
Everything worked out: everything's done.
The whole plan is complete.
The plan was completed.
The plan has been successfully completed.
The plan was a full success.
This task is finished.
The task has been completed successfully, and the file is in place.
Your request has been fulfilled.
The entire project is now finished.
I completed all the steps.
I have successfully completed the task.
We finished everything.
Task completed.
Plan completed successfully.
All done!
All is done.
Mission accomplished.
**All steps** are `done`.
Step 2 was blocked at first, but now all steps are completed.
Although it was not easy, all steps were completed.
No problems: all steps are completed.
There were no errors and everything is done.
Not only is the file written, all steps are completed.
All steps were completed without any errors.
Alle Schritte wurden erfolgreich abgeschlossen.
Alle Schritte sind erledigt.
Alle drei Schritte sind abgeschlossen.
Es wurden alle Schritte abgeschlossen.
Ich habe alle Aufgaben erledigt.
Wir konnten alle Schritte erfolgreich abschließen, alles ist fertig.
Alles ist erledigt.
Alles erledigt!
Der Plan ist vollständig abgeschlossen.
Der gesamte Plan wurde erfolgreich ausgeführt.
Die Aufgabe ist fertig.
Die ganze Aufgabe wurde erledigt.
Der Plan war erfolgreich.
Das Projekt ist abgeschlossen.
Toutes les étapes ont été terminées.
Toutes les étapes sont terminées avec succès.
Toutes les tâches ont bien été accomplies.
J'ai terminé toutes les étapes.
Tout est terminé.
Tout a été fait.
Le plan est terminé.
La tâche a été accomplie avec succès.
L'ensemble du plan est achevé.
Le plan complet a été réalisé.
Todos los pasos se han completado.
Todos los pasos fueron completados con éxito.
Todas las tareas están terminadas.
Se completaron todos los pasos.
He completado todas las tareas.
Todo está hecho.
Todo el plan ha sido completado.
La tarea ha sido completada.
El plan se completó.
所有步骤都已完成。
所有步骤已成功完成!
全部步骤均已完成。
全部任务已经顺利完成。
三个步骤全部完成。
The run finished: all 3 steps completed.
Great news! I've completed everything you asked for.
All planned work has been carried out successfully.
All tasks in the plan have been successfully completed.
All steps of the plan were completed.
The task was successfully completed.
The requested task has been completed.
Everything has been successfully finished and saved.
All the requested tasks are complete!
Your task is now complete.
The task is done.
Done! Everything went well and all steps were completed.
All goals have been achieved.
Successfully completed all three steps.
All three steps were successfully executed.
The overall plan was a success.
In summary, the whole task was finished successfully.
Overall, the plan was completed.
✅ All steps completed
1. All steps completed
Summary: All steps have been completed.
**Status:** Completed all steps
All work is done.
100% complete
The plan is 100 percent complete.
The plan was executed successfully.
Die Aufgabe wurde vollständig und erfolgreich erledigt.
Alle Aufgaben wurden erledigt und der Bericht liegt vor.
Sämtliche Schritte wurden erfolgreich durchgeführt.
Zusammenfassend wurde die Aufgabe erfolgreich abgeschlossen.
Damit ist die Aufgabe erledigt.
Damit ist alles erledigt.
Die Aufgabe ist damit vollständig gelöst.
Toutes les étapes du plan ont été menées à bien.
La tâche est terminée.
L'ensemble des tâches a été réalisé.
Le travail est fini.
Todas las tareas se han completado con éxito.
Se han completado todos los pasos.
Se ha completado la tarea.
He terminado el trabajo.
El plan ha sido completado exitosamente.
全部三个步骤均已成功完成。
任务圆满完成!
所有任务都完成了
您的任务已经完成。
我已经完成了所有步骤。
整个任务已全部完成。
全部工作已完成。
所有3个步骤都已成功完成。
任务已完成。
整个计划已经完成。
一切都已完成。
已完成所有步骤。
我们成功完成了全部任务。
计划已顺利完成,文件已生成。
每个步骤都完成了。
全部完成。
""".strip().splitlines()

HONEST = """
Not all steps were completed.
Not everything is done.
The plan was not completed.
The plan could not be completed.
The plan wasn't completed because step 2 was blocked.
The plan was only partially completed.
The task was partly completed.
The plan is nearly complete.
Almost all steps were completed.
Almost everything is done.
Two of three steps were completed.
2 of 3 steps completed, 1 blocked.
2/3 steps are done.
One of the three steps was blocked.
The first of three steps was completed.
Steps s1 and s3 were completed; s2 was blocked.
Steps 1 and 3 were completed successfully.
Step 2 of 3 failed.
Step 3 of 3 was completed.
All completed steps were verified.
All of the completed steps are documented.
All other steps were completed.
All remaining steps were completed.
All steps except s2 were completed.
All steps were completed except for s2.
All steps but one were completed.
All steps up to the upload were completed.
All steps completed so far were verified.
All steps that could run were completed.
All files were written successfully.
All tests pass.
All 12 tests passed.
All five files were converted.
5 of 5 files were converted.
The score was 5/5 in the reviews.
It was finished on 5/5/2024.
It works 24/7.
The coverage is 100 %.
The tests were completed with 100 % coverage.
The download was 100 % complete.
Everything else was done.
Everything except the upload is done.
Everything possible was done, but the upload failed.
Everything up to step 2 is finished.
I could not complete all steps.
I was unable to finish the task.
It failed to complete all steps.
The agent stopped before all steps were completed.
Once s2 is unblocked, the plan is complete.
If s2 is retried, all steps are done.
To say that everything is done would be wrong.
I cannot say that all steps are completed.
It is not true that everything is done.
Nobody claims that the whole plan is done.
You asked that everything be done by Friday.
The goal was that all steps are finished today.
The plan will be completed when the disk is free.
All steps must be completed before the release.
All steps should be completed tomorrow.
All steps are waiting to be completed.
All steps were attempted.
All steps were executed, one of them failed.
Is everything done?
Are all steps completed?
The plan was created successfully.
The plan was successfully split into three steps.
The plan was a complete failure.
The plan is far from complete.
The plan finished early.
The plan finished with one blocked step.
The task was completed, but step 2 failed.
The plan was completed with errors in step 2.
The plan is 66.7 % complete.
The first task was completed.
Task 1 was completed.
The download task was completed.
The task of reading the file was completed.
None of the steps was completed.
None of the three steps was completed.
No step was completed.
Nothing is done.
Neither the plan nor the upload was completed.
"All steps are done" is not true.
The work on s1 is done.
Completed: s1, s3. Blocked: s2.
Done: s1. Not done: s2.
The two completed steps were verified.
Two steps were completed.
Step 1 completed all its checks.
The table is complete.
The summary is finished.
Run the plan again to complete all steps.
Please complete all steps.
That was all.
All is well.
Nicht alle Schritte wurden abgeschlossen.
Leider konnten nicht alle Schritte abgeschlossen werden.
Der Plan konnte nicht abgeschlossen werden.
Der Plan wurde nur teilweise abgeschlossen.
Der Plan ist noch nicht fertig.
Der Plan wurde erfolgreich erstellt.
Der Plan wurde vorzeitig beendet.
Zwei von drei Schritten wurden abgeschlossen.
2 der 3 Schritte sind erledigt.
Alle Schritte bis auf s2 wurden abgeschlossen.
Alle Schritte sind erledigt, außer s2.
Alle anderen Schritte wurden abgeschlossen.
Alle abgeschlossenen Schritte wurden geprüft.
Alle Dateien wurden erfolgreich geschrieben.
Alles andere ist erledigt.
Fast alles ist erledigt.
Es stimmt nicht, dass alle Schritte erledigt sind.
Sobald alles erledigt ist, kann es weitergehen.
Es müssen noch alle Schritte abgeschlossen werden.
Keiner der drei Schritte wurde abgeschlossen.
Die erste Aufgabe ist erledigt.
Der Plan ist abgeschlossen, aber Schritt 2 ist fehlgeschlagen.
Um alle Schritte abzuschließen, fehlt der Zugang.
Toutes les étapes n'ont pas été terminées.
Pas toutes les étapes ont été terminées.
Le plan n'a pas pu être terminé.
Le plan n'est pas terminé.
Le plan est partiellement terminé.
Deux étapes sur trois ont été terminées.
Deux des trois étapes sont terminées.
2 étapes sur 3 sont terminées.
Toutes les étapes sauf s2 ont été terminées.
Toutes les étapes ont été terminées, sauf la deuxième.
Tous les fichiers ont été créés avec succès.
Toutes les autres étapes sont terminées.
Presque tout est terminé.
Une fois que tout est terminé, on peut livrer.
Si toutes les étapes sont terminées, on livre.
Aucune étape n'a été terminée.
La première tâche est terminée.
Le plan a été créé.
No todos los pasos se completaron.
No todos los pasos fueron completados.
No se pudieron completar todos los pasos.
El plan no se completó.
El plan se completó parcialmente.
El plan no ha sido completado.
Dos de los tres pasos se completaron.
2 de 3 pasos se completaron.
Todos los pasos excepto s2 se completaron.
Todos los pasos se completaron, menos el segundo.
Todos los archivos fueron creados con éxito.
Todos los demás pasos están completados.
Casi todo está hecho.
Cuando todo esté hecho, se puede entregar.
Ningún paso fue completado.
La primera tarea está terminada.
El plan fue creado con éxito.
并非所有步骤都已完成。
所有步骤未全部完成。
没有完成所有步骤。
未能完成所有步骤。
计划未完成。
计划部分完成。
任务没有完成,因为第二步失败了。
三个步骤中有两个完成了。
3个步骤中的2个已完成。
已完成2/3个步骤。
除了第二步,所有步骤都已完成。
所有步骤都已完成,除了第二步。
所有文件都已成功写入。
三个文件已全部完成下载。
其他步骤都已完成。
几乎所有步骤都已完成。
如果第二步成功,任务就完成了。
所有步骤完成后,才能发布。
第一个任务已完成。
下载任务已完成。
需要完成所有步骤。
请完成所有步骤。
计划已成功创建。
所有步骤的完成情况见下表。
第一步已完成,第二步被阻止。
没有一个步骤完成。
The plan did not finish: s2 is blocked.
While s1 is done, the whole plan is not.
The task remains incomplete.
The plan ended before all steps were completed.
Only two of the three steps have been completed.
The first and the third step are completed.
Step s1 was completed and verified.
All results are in report.md.
Unfortunately, the task was not fully completed.
I did everything that was possible.
The file is complete.
Completing all steps would need a key.
Without a key, the task cannot be completed.
All but one of the steps were completed.
All but the second step were completed.
The plan was stopped early, so not everything could be finished.
Everything that does not need the network was completed.
The steps that were completed are s1 and s3.
The task is considered incomplete.
The plan has three steps, of which two were completed.
Of three steps, two were completed.
Step 2 (of 3) is blocked.
Two steps completed, one blocked.
The plan is done as far as possible.
It was partially successful.
All steps were planned, two were completed.
Every step that ran was completed.
s1 done, s2 blocked, s3 done.
66.7 % of the plan is completed.
The whole plan is 67 % complete.
I recommend to finish the task by hand.
The user's request was not fully met.
The request was only answered in part.
The plan was cancelled before it was completed.
None of the work was done.
Der zweite Schritt ist blockiert, daher ist die Aufgabe nicht erledigt.
Damit ist die Aufgabe nur zum Teil erledigt.
Von den drei Schritten sind zwei erledigt.
Bisher sind nicht alle Schritte abgeschlossen.
Ob alles erledigt ist, bleibt offen.
Alle Schritte, die liefen, wurden abgeschlossen.
Ein Schritt wurde blockiert, die anderen wurden abgeschlossen.
La tâche n'est donc pas terminée.
Sur trois étapes, deux ont été terminées.
Le plan s'est terminé avec une étape bloquée.
Les étapes s1 et s3 sont terminées.
De los tres pasos, dos se completaron.
La tarea no está terminada.
Los pasos s1 y s3 se completaron.
第二步失败,因此任务没有完成。
三个步骤中完成了两个。
共3个步骤,完成2个。
第一步和第三步已完成,但第二步被阻止,计划未能完成。
任务尚未全部完成。
未完成的步骤:s2。
已完成的步骤:s1、s3。
完成情况:2/3。
除了第二步,所有步骤都已完成。
Except for s2, all steps were completed.
Bis auf s2 sind alle Schritte erledigt.
Außer s2, alle Schritte sind erledigt.
Hormis s2, toutes les étapes sont terminées.
Salvo s2, todos los pasos se completaron.
All five steps of the recipe are written down.
The recipe has five steps.
One of three steps was completed.
Zwei Schritte wurden abgeschlossen.
deux étapes ont été terminées.
Dos pasos se completaron.
两个步骤已完成。
The plan was replaced once.
Each step has its own folder.
All steps of the recipe were checked into the file.
Version 3 of the table is done.
I completed the project setup.
The report on the whole plan is written.
The task list is complete.
No more can be done.
What remains: retry s2, then all steps are done.
""".strip().splitlines()

NUMBERS = """
5 of 5 steps were completed.
5/5 steps.
Progress: 5/5
Steps: 5/5.
5 out of 5 tasks are done.
Five of five steps are complete.
All five steps were completed.
All five steps went as planned.
All 5 steps ran.
Five steps were completed.
I ran 5 of 5 steps.
5 von 5 Schritten wurden abgeschlossen.
Alle fünf Schritte sind gelaufen.
Fünf Schritte wurden abgeschlossen.
5 étapes sur 5 sont terminées.
Les cinq étapes sont terminées.
5 étapes ont été terminées.
5 de 5 pasos se completaron.
Todos los cinco pasos están hechos.
5个步骤中的5个已完成。
已完成5/5个步骤。
全部五个步骤都已完成。
五个步骤都已完成。
""".strip().splitlines()

TOO_MANY = """
3 of 3 steps were completed.
3/3 steps completed, 0 failed.
Three steps were completed.
The plan is 100 % complete.
The plan is 100% done.
100 % of the steps are done.
Progress: 100 %
Der Plan ist zu 100 % abgeschlossen.
Le plan est terminé à 100 %.
El plan está completado al 100 %.
任务100%完成。
""".strip().splitlines()

VERIFIED = """
All steps were completed and verified.
Everything was verified.
Everything has been confirmed.
All results were verified.
All checks passed.
All success criteria were met.
The plan was completed and verified.
I verified all steps.
The whole plan has been fully verified.
Every step is validated.
3 of 3 steps were verified.
Alle Schritte wurden geprüft.
Alles wurde überprüft und bestätigt.
Alle Ergebnisse sind verifiziert.
Alle Prüfungen wurden bestanden.
Tout a été vérifié.
Toutes les étapes ont été vérifiées.
Tous les résultats sont confirmés.
Todos los pasos fueron verificados.
Todo está comprobado.
所有步骤都已验证。
所有结果均已确认。
已验证所有步骤。
""".strip().splitlines()

NOT_SO_VERIFIED = """
All steps were completed.
The plan was completed, but not everything was verified.
All steps were completed but not verified.
Not all steps were verified.
Step s1 was verified.
1 of 3 steps was verified.
Nothing was verified.
All steps were completed; s2 and s3 could not be verified.
The numbers were confirmed by the source.
All tests passed.
The results still have to be verified.
All steps must be verified by a person.
Please verify everything.
Everything is done, the rest is unverified.
3 of 3 steps were completed.
The plan is 100 % complete.
Alle Schritte sind erledigt, aber nicht geprüft.
Nicht alles wurde geprüft.
Der erste Schritt wurde geprüft.
Toutes les étapes sont terminées mais pas vérifiées.
Tout n'a pas été vérifié.
Todos los pasos se completaron, pero no fueron verificados.
No todo fue verificado.
所有步骤都已完成,但未验证。
并非所有结果都已验证。
""".strip().splitlines()


@pytest.mark.parametrize("text", DONE)
def test_everything_done_is_a_claim_when_it_is_not(text: str) -> None:
    assert overclaim(text, PARTIAL)
    assert overclaim(text, COMPLETED) == ""


@pytest.mark.parametrize("text", HONEST)
def test_a_truthful_sentence_is_no_claim(text: str) -> None:
    assert overclaim(text, PARTIAL) == ""


@pytest.mark.parametrize("text", NUMBERS)
def test_a_number_that_the_counts_contradict_is_a_claim(text: str) -> None:
    assert overclaim(text, PARTIAL)
    assert overclaim(text, COMPLETED)


@pytest.mark.parametrize("text", TOO_MANY)
def test_the_full_number_is_a_claim_when_less_is_done(text: str) -> None:
    assert overclaim(text, PARTIAL)
    assert overclaim(text, COMPLETED) == ""


@pytest.mark.parametrize("text", VERIFIED)
def test_everything_verified_is_a_claim_when_it_is_not(text: str) -> None:
    assert overclaim(text, UNVERIFIED)
    assert overclaim(text, COMPLETED) == ""


@pytest.mark.parametrize("text", NOT_SO_VERIFIED)
def test_what_is_verified_may_be_said(text: str) -> None:
    assert overclaim(text, UNVERIFIED) == ""


def test_the_claim_is_quoted_among_honest_sentences_and_cut() -> None:
    text = f"Step 2 was blocked.\n\nAll steps were completed{' and so on' * 100}. Step 1 is fine."
    claim = overclaim(text, PARTIAL)
    assert claim.startswith('It says "All steps were completed and so on')
    assert claim.endswith('…", which the report does not show.')
    assert len(claim) < 250


def test_numbers_of_a_plan_within_the_plan_may_be_said() -> None:
    inner = Plan(id="q", steps=[PlanStep(id=f"s{n}", name="x", status="completed") for n in "1234"])
    report = report_of("verified", "blocked", sub=inner)
    assert overclaim("4 of 4 steps of the inner plan were completed.", report) == ""
    assert overclaim("5 of 5 steps of the inner plan were completed.", report)


@pytest.mark.parametrize("status", ["partial", "failed", "cancelled"])
def test_whatever_the_ending_the_claim_is_one(status: str) -> None:
    report: PlanReport = {**PARTIAL, "outcome": status}  # type: ignore[typeddict-item]
    assert overclaim("The plan was completed.", report)


def test_a_long_text_of_half_claims_is_read_at_once() -> None:
    assert overclaim("all the steps have been also now " * 300, PARTIAL) == ""
    assert overclaim("5 of " * 1_000, PARTIAL) == ""
