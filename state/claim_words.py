"""How five languages say that everything is done, and how they take it back."""

from typing import Final

from .claim_grammar import NUMBER, Words

_EN_STEPS: Final = (
    r"(?:sub-?)?(?:steps?|tasks?)|parts|items|goals|objectives|milestones|work|things"
)
ENGLISH: Final = Words(
    steps=r"steps?|tasks?",
    whole=(
        r"(?:all|both|each|every)(?: one)?(?: of)?(?: the| its| your| our| my| these)?"
        rf"(?: {NUMBER})?(?: (?:planned|requested|assigned|required|necessary|individual|single))?"
        rf" (?:{_EN_STEPS})(?: (?:of|in|on) (?:the|this|your) (?:plan|task|list|request))?"
        r"|everything(?: you (?:asked for|requested|wanted)| in the plan)?|it all"
        r"|all(?=(?: is| was| now)* (?:done|complete|finished))"
        r"|(?:(?:the|this|your|our)(?: (?:whole|entire|complete|full|overall|requested))? )"
        r"(?:plan|task|request|job|work|project|assignment)|^(?:plan|task|job|mission|project)"
    ),
    proof=(
        r"(?:all|every)(?: of)?(?: the| its)?(?: success)? "
        r"(?:results?|outputs?|claims|checks?|criteri(?:a|on)|verifications?)"
    ),
    link=r"is|are|was|were|has|have|had|got|been|went",
    filler=(
        r"\w+ly|now|all|already|then|also|thus|therefore|indeed|been|being|both|each|and|just"
        r"|in full|as (?:planned|requested|expected)|with success|marked|100 ?%"
    ),
    done=(
        r"done|finished|completed?|successful|succeeded|accomplished|fulfilled|achieved|solved"
        r"|successfully (?:executed|carried out|performed)"
        r"|(?:executed|carried out|performed) successfully"
        r"|a (?:(?:full|complete|total|great) )?success"
    ),
    checked=r"verified|confirmed|validated|checked(?! in)|passed|satisfied|met",
    did=r"(?:completed|finished|accomplished|fulfilled|achieved|solved|done|did)",
    proved=r"verified|confirmed|validated|checked",
    tail=r"successfully|as|and|without|for you|on time|now|today|in full|with success",
    unless=(
        r"\w+n't|not|no|never|none|neither|nor|cannot|without|fail(?:s|ed|ing)? to|unable"
        r"|instead of|rather than|far from|hardly|prevent\w*|partially|partly|in part|almost"
        r"|nearly|mostly|largely|halfway|only|incompletely|supposedly|allegedly"
    ),
    condition=(
        r"except\w*|apart from|besides|aside from|other than"
        r"|retry|if|whether|once|when|until|till|unless|before|would|should|could|might|may|must|shall"
        r"|to be|asked|wants?|wanted|requires?|required that|goal|aims?|intend\w*|expect\w*"
        r"|supposed|claim\w*|pretend\w*|so that|in order|will"
    ),
    but=(
        r"except\w*|apart from|besides|aside from|other than|but (?:one|two|for|not|s\d)|if|once"
        r"|unless|until|provided|only|partially|partly|in part|early|prematurely|so far|as far as"
        r"|(?:is|are|was|were) not|false|wrong|untrue|incorrect"
        r"|with (?:\w+ ){0,3}(?:blocked|failed|failures?|errors?|problems|missing|open|skipped)"
        r"|(?:but|although|though|however|while|whereas|yet)\b.*\b(?:not|\w+n't|fail\w*|block\w*"
        r"|miss\w*|unverified|skip\w*|unfinished|incomplete|open|unable|cancel\w*|abort\w*)"
    ),
)
_DE_STEPS: Final = (
    r"(?:teil|arbeits)?(?:schritte?n?|aufgaben?)|punkte|arbeiten|ziele|teile|anforderungen"
)
GERMAN: Final = Words(
    steps=r"schritte?n?|aufgaben",
    whole=(
        rf"(?:alle[nr]?|beide|sämtliche[nr]?|jede[rs]?)(?: der| die| den)?(?: {NUMBER})?"
        rf"(?: (?:geplanten|geforderten|nötigen|vorgesehenen|einzelnen))? (?:{_DE_STEPS})"
        r"(?: des plans| der aufgabe)?|alles"
        r"|(?:de[rn]|diese[rn]|ihre?n?|deine?n?)(?: (?:ganzen?|gesamten?|kompletten?))? "
        r"(?:plan|auftrag)|(?:die|diese|ihre|deine)(?: (?:ganze|gesamte|komplette))? "
        r"(?:aufgabe|arbeit|anfrage)|das(?: (?:ganze|gesamte))? projekt|^(?:plan|aufgabe|auftrag)"
    ),
    proof=r"(?:alle|sämtliche) (?:ergebnisse|prüfungen|kriterien|erfolgskriterien|ausgaben)",
    link=r"ist|sind|war|waren|wurden?|hat|habe|haben|konnten?",
    filler=(
        r"erfolgreich|vollständig|komplett|nun|jetzt|damit|somit|inzwischen|bereits|also|auch|schon"
        r"|ganz|und|restlos|fehlerfrei|wie (?:geplant|gewünscht|verlangt)|mit erfolg|zu 100 ?%"
    ),
    done=(
        r"erledigt|abgeschlossen|fertig(?:gestellt)?|vollendet|erfüllt|geschafft|gelungen|gelöst"
        r"|abgearbeitet|erfolgreich (?:beendet|ausgeführt|durchgeführt|umgesetzt|bearbeitet)"
        r"|erfolgreich(?=\s*(?:$|[^\w\s]))"
    ),
    checked=r"(?:über|ge|nachge)prüft|verifiziert|bestätigt|validiert|bestanden|erfüllt",
    did=r"(?:abgeschlossen|erledigt|fertig) (?:sind|ist|wurden?)",
    proved=r"(?:geprüft|verifiziert|bestätigt) (?:sind|ist|wurden?)",
    tail=r"wurden?|worden|sind|ist|haben|hat|waren?|und",
    unless=(
        r"nicht|kein\w*|nie\w*|weder|kaum|ohne|fast|beinahe|nahezu|größtenteils|weitgehend"
        r"|teilweise|teils|zum teil|halb|nur|angeblich|statt|anstatt"
    ),
    condition=(
        r"außer|abgesehen|mit ausnahme"
        r"|wenn|sobald|falls|ob|bevor|bis|solange|soll\w*|muss\w*|müss\w*|würde\w*|wäre\w*"
        r"|könnte\w*|möchte\w*|woll\w*|ziel|behaupt\w*"
    ),
    but=(
        r"bis auf|außer|ausgenommen|mit ausnahme|abgesehen|nur|teilweise|falls|sobald|wenn|bisher"
        r"|vorzeitig|stimmt nicht|ist falsch|mit (?:\w+ ){0,3}(?:fehler\w*|blockiert\w*)"
        r"|(?:aber|doch|jedoch|obwohl|während|allerdings)\b.*\b(?:nicht|kein\w*|\w*fehl\w*"
        r"|gescheitert\w*|blockier\w*|offen\w*|ungeprüft\w*)"
    ),
)
_FR_STEPS: Final = r"(?:sous-)?(?:étapes?|tâches?)|parties|points|objectifs|travaux|actions"
FRENCH: Final = Words(
    steps=r"étapes?|tâches?",
    whole=(
        rf"(?:toutes|tous) (?:les|ces|vos|nos|mes) (?:{NUMBER} )?(?:{_FR_STEPS})"
        r"(?: (?:prévu|demandé|planifié)e?s)?(?: du plan)?|chaque (?:étape|tâche)"
        r"|(?:l'ensemble|la totalité) (?:du plan|du travail|de la tâche|des étapes|des tâches)"
        r"|tout(?: le (?:plan|travail|projet))?|toute la (?:tâche|demande)"
        r"|(?:le|ce|votre) (?:plan|travail|projet)(?: complet| entier)?"
        r"|(?:la|cette|votre) (?:tâche|demande|mission)(?: complète| entière)?|^(?:plan|tâche)"
    ),
    proof=r"(?:tous|toutes) les (?:résultats|vérifications|contrôles|critères|sorties)",
    link=r"est|sont|était|étaient|a|ai|ont|avons|fut|furent",
    filler=(
        r"\w+ment|bien|tous|toutes|maintenant|désormais|donc|ainsi|déjà|été|et|aussi"
        r"|avec succès|à 100 ?%"
    ),
    done=(
        r"(?:terminé|achevé|accompli|complété|réussi|réalisé|effectué|finalisé|fait|fini"
        r"|exécuté)e?s?(?: avec succès)?|un (?:plein )?succès|menée?s? à bien|compl(?:et|ète)s?"
    ),
    checked=r"(?:vérifié|verifié|confirmé|validé|contrôlé|passé|rempli|satisfait)e?s?",
    did=r"terminé|achevé|accompli|complété|réussi|réalisé|effectué|finalisé|fini|mené à bien",
    proved=r"vérifié|confirmé|validé|contrôlé",
    tail=r"avec|et|sans|comme",
    unless=(
        r"ne|n'\w+|pas|jamais|aucun\w*|sans|ni|presque|quasi\w*|partiellement|en partie"
        r"|à moitié|seulement|non|prétendument"
    ),
    condition=(
        r"sauf|hormis|excepté\w*|à l'exception|à part"
        r"|si|quand|lorsqu\w*|une fois|dès|avant|afin|pour que|jusqu\w*|doi\w*|dev\w*|serai\w*"
        r"|pourr\w*|objectif|prétend\w*|sera|seront"
    ),
    but=(
        r"sauf|excepté\w*|hormis|à l'exception|à part|si|seulement|en partie|partiellement|faux"
        r"|jusqu'ici|avec (?:\w+ ){0,3}(?:erreurs?|échecs?|bloquée?s?)"
        r"|(?:mais|bien que|cependant|toutefois|alors que)\b.*\b(?:pas|échou\w*|échec|bloqu\w*"
        r"|non|manqu\w*)"
    ),
)
_ES_STEPS: Final = r"(?:sub)?tareas|pasos|etapas|partes|puntos|objetivos|trabajos"
SPANISH: Final = Words(
    steps=r"pasos?|tareas?|etapas?",
    whole=(
        rf"(?:tod|amb)[oa]s (?:l[oa]s|sus|mis|est[oa]s) (?:{NUMBER} )?(?:{_ES_STEPS})"
        r"(?: (?:previst|solicitad|planificad)[oa]s)?(?: del plan)?|cada (?:paso|tarea)"
        r"|la totalidad (?:del plan|de los pasos|de las tareas|de la tarea)"
        r"|tod[oa](?: (?:el|la) (?:plan|trabajo|proyecto|tarea))?"
        r"|(?:el|este|su|tu) (?:plan|trabajo|proyecto|encargo)(?: completo| entero)?"
        r"|(?:la|esta|su|tu) (?:tarea|solicitud|misión)(?: completa| entera)?|^(?:plan|tarea)"
    ),
    proof=r"tod[oa]s l[oa]s (?:resultados|comprobaciones|verificaciones|pruebas|criterios)",
    link=r"está|están|estaba|fue|fueron|ha|han|he|hemos|quedó|quedaron|se|es|son",
    filler=r"\w+mente|ya|todos|todas|bien|ahora|también|sido|se|y|con éxito|por completo|al 100 ?%",
    done=(
        r"(?:complet|termin|finaliz|acab|realiz|logr)(?:ad[oa]s?|ó|aron)"
        r"|(?:conclu|cumpl)(?:id[oa]s?|ió|yó|ieron|yeron)|complet[oa]s?|hech[oa]s?|list[oa]s?"
        r"|exitos[oa]s?|un éxito|funcionó"
    ),
    checked=(
        r"(?:verific|confirm|comprob|valid|super)(?:ad[oa]s?|ó|aron)|(?:cumpl)(?:id[oa]s?|ió|ieron)"
    ),
    did=(
        r"(?:complet|termin|finaliz|acab|realiz)(?:é|ó|amos|aron|ado)"
        r"|(?:conclu|cumpl)(?:í|ió|yó|imos|ieron|yeron|ido)|hecho"
    ),
    proved=r"(?:verifi|comprob|confirm|valid)(?:qué|é|có|ó|camos|amos|caron|aron|cado|ado)",
    tail=r"con|y|sin|como",
    unless=(
        r"no|nunca|ning[uú]n\w*|tampoco|sin|casi|parcialmente|en parte|a medias|sólo|solo"
        r"|solamente|ni|supuestamente"
    ),
    condition=(
        r"excepto|salvo|a excepción|aparte de"
        r"|si|cuando|una vez|hasta|antes|deb\w+|para que|sería\w*|podrí\w*|objetivo|afirm\w*"
        r"|será|serán"
    ),
    but=(
        r"excepto|salvo|menos|a excepción|aparte de|si|solo|sólo|parcialmente|en parte|falso"
        r"|hasta ahora|con (?:\w+ ){0,3}(?:errores|fallos|bloquead\w*)"
        r"|(?:pero|aunque|sin embargo|mientras)\b.*\b(?:no|fall\w*|bloque\w*|falt\w*)"
    ),
)
_ZH_PLAN: Final = r"(?:计划|任务|请求|项目|工作)"
CHINESE: Final = Words(
    steps=r"(?:个|项)?(?:步骤|任务)",
    whole=(
        rf"(?:所有|全部|每一?[个项]|各[个项])(?:的|这些|计划的)?(?:{NUMBER})?[个项]?"
        r"(?:步骤|子?任务|工作|目标|计划|内容|事项|环节)"
        rf"|整个{_ZH_PLAN}|一切|(?:^|(?<=[\s,、:(]))(?:现在|目前|因此|所以|至此|最终|最后|本次)*"
        rf"(?:您的|你的|本)?(?:{_ZH_PLAN}|全部(?=已?经?完成了?[。.!]*$))"
    ),
    proof=r"(?:所有|全部)(?:的)?(?:结果|检查|验证|标准|输出)",
    link=r"都|均|皆|已经|已",
    filler=r"全部|成功|顺利|圆满|现在|目前|被|也|得到|了|地|100%",
    done=(
        r"(?:完成|做完|搞定|达成|完毕)(?!情况|度|率|一半|部分|制定|创建|之?[后前时])"
        r"|成功(?![\u4e00-\u9fff])|成功了"
    ),
    checked=r"(?:通过)?(?:验证|核实|确认|核查|检查)(?:通过)?(?![的后前])|通过",
    did=r"(?:已经?|成功|顺利)完成了?|完成了",
    proved=r"(?:已经?)(?:验证|核实|确认|检查)了?|(?:验证|核实|确认|检查)了",
    tail=r"了",
    unless=r"[未没无]|并非|不|尚|难以|几乎|差不多|部分|大致|基本|除|只|仅|据称",
    condition=r"除|如果|若|当|一旦|等|直到|请|需|应|将|要求|希望|声称|为了|才",
    but=r"除|以外|之外|仅|只|部分|如果|(?:但|然而|尽管|虽然).*[未没失阻无不]|[假错]|^之?[后前时]",
    gap=r"\s*",
    edge="",
)
LANGUAGES: Final = (ENGLISH, GERMAN, FRENCH, SPANISH, CHINESE)
